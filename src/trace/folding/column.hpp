// The values of a field that varies, and which one is foreseen next: what came some values ago, plus the difference that
// the last such pair had. This finds values that repeat, and those that count up.
#pragma once
#include <array>
#include <cstdint>

namespace lull::trace::folding {

class column {
 public:
  [[nodiscard]] std::uint64_t foreseen() const { return back(lag_) + step_; }
  void add(std::uint64_t value) {
    const bool right = value == foreseen();
    last_[count_++ % kept] = value;
    if (!right) find_pattern();
  }

 private:
  static constexpr std::size_t kept = 64, longest_lag = 32;

  [[nodiscard]] std::uint64_t back(std::size_t by) const { return last_[(count_ - by) % kept]; }
  void find_pattern() {
    for (std::size_t lag = 1; lag <= longest_lag && lag + 1 < count_; ++lag)
      if (back(1) - back(1 + lag) == back(2) - back(2 + lag)) {
        lag_ = lag;
        step_ = back(1) - back(1 + lag);
        return;
      }
    lag_ = 1;
    step_ = 0;
  }

  std::array<std::uint64_t, kept> last_ = {};
  std::size_t count_ = 0;
  std::size_t lag_ = 1;
  std::uint64_t step_ = 0;
};

}  // namespace lull::trace::folding
