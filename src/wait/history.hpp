// How long waits like this one took before, and how late this thread wakes: from these the adaptive policy predicts.
//
// Waits are alike when operation, peer and size (within a quarter of an octave) are. The last eight durations of each
// kind are kept, for at most 256 kinds at a time: a new kind takes the place of the one not seen for longest among
// four. Predicted is the lower quartile: waking too early costs a short spin, waking too late costs the wait itself.
//
// May be used by several threads at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "wait/awaited.hpp"
#include "wait/policy.hpp"

namespace lull::wait {

class wait_history {
 public:
  // Nothing before a few such waits have been seen.
  [[nodiscard]] std::optional<prediction> predict(const awaited& what);
  void waited(const awaited& what, std::int64_t ns);
  // A sleep that was to end at its alarm ended so much later.
  void woke_late(std::int64_t ns);

  [[nodiscard]] std::int64_t lateness_ns();  // 90 of 100 alarms were no later than this

 private:
  static constexpr std::size_t kept = 8;
  static constexpr std::size_t needed = 3;
  static constexpr std::size_t ways = 4;
  static constexpr std::size_t sets = 64;
  struct kind {
    std::uint64_t key = 0;  // 0: free
    std::uint64_t last_seen = 0;
    std::size_t count = 0;  // ever
    std::array<std::int64_t, kept> ns{};
  };

  [[nodiscard]] static std::uint64_t key_of(const awaited& what);
  [[nodiscard]] kind* find(std::uint64_t key);
  [[nodiscard]] std::int64_t lateness_locked() const;

  std::mutex lock_;
  std::array<kind, sets * ways> kinds_{};
  std::uint64_t time_ = 0;  // grows with every wait
  std::array<std::int64_t, 32> late_ns_{};
  std::size_t alarms_ = 0;
};

}  // namespace lull::wait
