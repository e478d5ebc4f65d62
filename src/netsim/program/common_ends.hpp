// When the processes of a program ended its numbered parts, its runs or its iterations. Each process ends every part, in
// order, until it leaves.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "netsim/routing.hpp"

namespace lull::netsim {

class common_ends {
 public:
  explicit common_ends(std::uint32_t processes) : processes_(processes) {}

  // A process has ended a part.
  void add(std::size_t number, picoseconds now) {
    if (number >= last_.size()) {
      last_.resize(number + 1);
      left_.resize(number + 1, processes_);
    }
    last_[number] = std::max(last_[number], now);
    count(number);
  }
  // A process ends no part from number `from` on; the others need not wait for it.
  void leave(std::size_t from) {
    --processes_;
    for (std::size_t number = from; number < left_.size(); ++number) count(number);
  }
  // Whether all processes have ended so many parts.
  [[nodiscard]] bool of_all(std::int64_t parts) const { return static_cast<std::int64_t>(of_all_) >= parts; }
  // When the last process ended each part that all have ended.
  [[nodiscard]] std::vector<picoseconds> times() const {
    return {last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(of_all_)};
  }

 private:
  void count(std::size_t number) {
    if (--left_[number] == 0) ++of_all_;
  }

  std::uint32_t processes_;  // that have not left
  std::size_t of_all_ = 0;
  std::vector<picoseconds> last_;    // of the processes that have ended it
  std::vector<std::uint32_t> left_;  // processes that have yet to end it
};

}  // namespace lull::netsim
