// Counts an event that should be rare, and its opposite, and says whether the event is still an exception.
#pragma once
#include <atomic>
#include <cstdint>

namespace lull::mpi {

// `Allowed` times, and once more for each `OthersForEach` opposites. Any thread may count.
template <std::uint32_t Allowed, std::uint32_t OthersForEach>
class rare_event {
 public:
  void occurred(bool yes) noexcept { (yes ? times_ : others_).fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool is_rare() const noexcept {
    return times_.load(std::memory_order_relaxed) <= Allowed + others_.load(std::memory_order_relaxed) / OthersForEach;
  }

 private:
  std::atomic<std::uint32_t> times_{0}, others_{0};
};

}  // namespace lull::mpi
