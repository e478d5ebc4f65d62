// How long waits like this one took before, and how late this thread wakes: from these model/waiting.hpp predicts.
//
// Waits are alike when operation, peer and size (within a quarter of an octave) are. The last eight durations of each
// kind are kept, for at most 256 kinds at a time: a new kind takes the place of the one not seen for longest among
// four.
//
// May be used by several threads at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "model/waiting.hpp"
#include "wait/awaited.hpp"

namespace lull::wait {

class wait_history {
 public:
  // Nothing before a few such waits have been seen.
  [[nodiscard]] std::optional<model::slack_prediction> predict(const awaited& what);
  void waited(const awaited& what, std::int64_t ns);
  // A sleep that was to end at its timer ended so much later.
  void timer_was_late(std::int64_t ns);

 private:
  static constexpr std::size_t kept = model::most_durations;
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
  [[nodiscard]] std::int64_t wake_up_latency() const;

  std::mutex lock_;
  std::array<kind, sets * ways> kinds_{};
  std::uint64_t time_ = 0;  // grows with every wait
  std::array<std::int64_t, model::most_wake_up_latencies> latencies_ns_{};
  std::size_t timers_ = 0;
};

}  // namespace lull::wait
