// How long waits like this one took before, and how late this thread wakes: from these model/waiting.hpp predicts.
//
// Waits are alike when operation, peer, size (within a quarter of an octave) and site are. The last eight durations of
// each kind are kept, for so many kinds at a time as the history is made for: a new kind takes the place of the one not
// seen for longest among four.
//
// Of waits that were predicted it also keeps what was chosen, and what came of it.
//
// May be used by several threads at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "model/account.hpp"
#include "model/waiting.hpp"
#include "wait/awaited.hpp"
#include "wait/statistics.hpp"

namespace lull::wait {

// Of a wait whose length was predicted: whether a timer was to end its sleep.
struct timer_decision {
  model::slack_prediction known;
  bool by_timer;
};

class wait_history {
 public:
  // `kinds`: a multiple of four.
  explicit wait_history(std::size_t kinds = 256, const model::waiting_costs& costs = {});

  // Before the first wait: nothing is kept, so nothing is ever predicted (LULL_CHOOSE=off).
  void keep_nothing() { keeps_ = false; }

  [[nodiscard]] const model::waiting_costs& costs() const { return costs_; }
  // Nothing before a few such waits have been seen.
  [[nodiscard]] std::optional<model::slack_prediction> predict(const awaited& what);
  // Of a wait that has lasted so long already: by those that were longer, if there was any.
  [[nodiscard]] std::optional<model::slack_prediction> predict_longer(const awaited& what, std::int64_t than_ns);
  void waited(const awaited& what, std::int64_t ns);
  // A sleep that was to end at its timer ended so much later.
  void timer_was_late(std::int64_t ns);

  // How such a wait went, which would else have spun for so long.
  void decided(const timer_decision& how, std::int64_t spin_ns, const wait_counts& went);
  // `wait`: what the choice has come to, of waits that were worth a timer and of those that were not.
  [[nodiscard]] std::vector<model::choice_account> accounts();

 private:
  static constexpr std::size_t kept = model::most_durations;
  static constexpr std::size_t ways = 4;
  struct kind {
    std::uint64_t key = 0;  // 0: free
    std::uint64_t last_seen = 0;
    std::size_t count = 0;  // ever
    std::array<std::int64_t, kept> ns{};
  };

  // Sums over the waits of one decision, in ns.
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
