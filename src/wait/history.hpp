// The durations of earlier waits of the same kind, and the wake-up latencies of timers. model/costs/waiting.hpp predicts from
// them.
//
// Waits of one kind have the same operation, peer, size (within a quarter of an octave) and call site. The history
// keeps the last eight durations of each kind, in a set-associative table: a new kind replaces the least recently seen
// of four.
//
// For predicted waits the history also keeps the decision and its outcome.
//
// Several threads may use it at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "model/choices/account.hpp"
#include "model/costs/waiting.hpp"
#include "wait/awaited.hpp"
#include "wait/statistics.hpp"

namespace lull::wait {

// The decision for a wait with a prediction: whether a timer ends its sleep.
struct timer_decision {
  model::slack_prediction known;
  bool by_timer;
};

class wait_history {
 public:
  // `kinds`: the size of the table, a multiple of four.
  explicit wait_history(std::size_t kinds = 256, const model::waiting_costs& costs = {});

  // Call before the first wait: keeps nothing, and so predicts nothing (LULL_CHOOSE=off).
  void keep_nothing() { keeps_ = false; }

  [[nodiscard]] const model::waiting_costs& costs() const { return costs_; }
  // Returns nothing until a few waits of the kind have been seen.
  [[nodiscard]] std::optional<model::slack_prediction> predict(const awaited& what);
  // The prediction for a wait that has already lasted `than_ns`: from longer waits of its kind, if there are any.
  [[nodiscard]] std::optional<model::slack_prediction> predict_longer(const awaited& what, std::int64_t than_ns);
  void waited(const awaited& what, std::int64_t ns);
  // Reports that a sleep ended `ns` after its timer.
  void timer_was_late(std::int64_t ns);

  // Reports the outcome of a decision; without a timer the wait would have spun for `spin_ns` first.
  void decided(const timer_decision& how, std::int64_t spin_ns, const wait_counts& went);
  // The account of the choice named `wait`, for waits that were worth a timer and for those that were not.
  [[nodiscard]] std::vector<model::choice_account> accounts();

 private:
  static constexpr std::size_t kept = model::most_durations;
  static constexpr std::size_t ways = 4;
  struct kind {
    std::uint64_t key = 0;  // 0: free
    std::uint64_t last_seen = 0;
    std::size_t count = 0;  // of all waits of the kind
    std::array<std::int64_t, kept> ns{};
  };

  // Sums over all waits with the same decision, in ns.
  struct costs_of_waits {
    std::uint64_t waits = 0;
    double seen = 0;
    struct {
      double predicted = 0, corrected = 0;
    } with_timer, without;
  };

  [[nodiscard]] static std::uint64_t key_of(const awaited& what);
  [[nodiscard]] kind* find(std::uint64_t key);
  [[nodiscard]] std::int64_t wake_up_latency() const;

  [[nodiscard]] std::span<kind> set_of(std::uint64_t key);

  model::waiting_costs costs_;
  std::mutex lock_;
  std::vector<kind> kinds_;
  std::uint64_t time_ = 0;  // grows with every wait
  std::array<std::int64_t, model::most_wake_up_latencies> latencies_ns_{};
  std::size_t timers_ = 0;
  bool keeps_ = true;
  costs_of_waits worth_it_, too_short_;
};

}  // namespace lull::wait
