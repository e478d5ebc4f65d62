// Which route the phases of an aggregator take, as far as they could take another: the cheapest depends on how many items a
// phase has, which only the phases tell. What ends a phase is measured on each route that is taken; the others' are predicted, and
// taken to be off by as much as the first one's was.
//
//   phase_over(), phase by phase → wanted(): another route → all is made anew with it → compares(): what phases take on it,
//   beside those before → judge(): its items cost as much as that says; if it is slower, wanted() is the former route
//
// Of each other route it sums up what phases would have cost less on it, beyond a share that is not worth a change, and
// forgets what they would have cost more; when the sum comes to the price of a change, the change is worth it. So what is
// lost by waiting is no more than what a change costs, and phases that are now short, now long, change little. It is told
// nothing but what is the same on all PEs, so all come to the same.
//
// A route that was never taken may end phases for less than is predicted. If it would be the better one with that much less, it is
// tried for as many phases as a comparison takes, the likeliest first, each once: when the price of the trial has become a
// small share of what phases took since the last.
// With LULL_CHOOSE=off the first route stays.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "aggregate/plan.hpp"
#include "model/account.hpp"
#include "model/machine.hpp"

namespace lull::aggregate {

class route_choice {
 public:
  // `items_in_one`: what is counted for an item, 1 but where bytes are counted; `both_ways`: an item has an answer.
  struct measured {
    double making_ns, empty_phase_ns;  // with its answers
  };
  route_choice(const plan& how, const measured& found, const model::correction_rules& rules, double items_in_one,
               bool both_ways);

  // A phase through buffers is over, in which the PE that has most has had so many; it took so long here.
  void phase_over(std::uint64_t most_pushed, std::int64_t ns);
  [[nodiscard]] std::optional<scheme> wanted() const;
  // By that route it is now.
  void changed(const plan& how, const measured& found);
  void stay() {  // whatever comes
    stays_ = true;
    former_.reset();
  }

  // After a change, phases enough to tell: what one of so many items took here before, and takes since.
  struct comparison {
    double items, before_ns, since_ns;
  };
  [[nodiscard]] std::optional<comparison> compares() const;
  void judge(const comparison& of_all);  // the same on all PEs

  [[nodiscard]] std::uint64_t switches() const { return switches_; }
  // What came of `how`: in so many phases so many items, each of which took so long by the clock of the CPU.
  [[nodiscard]] std::optional<model::choice_account> account(const plan& how, std::uint64_t phases,
                                                             std::uint64_t pushed, double cpu_ns_per_item) const;

 private:
  struct seen {
    double items;
    std::int64_t ns;
  };
  // The first phases on a route touch memory that is new to them, in each buffer of each channel once.
  static constexpr std::size_t most_seen = 16, fewest_seen = 3, new_to_memory = 16;
  static constexpr std::size_t phases_to_tell = new_to_memory + most_seen;
  [[nodiscard]] static std::optional<double> median_of_like(const std::vector<seen>& phases, double items);

  struct alternative {
    scheme how;
    double ns_per_item, ns_per_phase;
    bool taken_before;  // and so its phase is measured
    double lost_ns;     // what phases would have cost less
    [[nodiscard]] double ns_of(double items) const { return ns_per_phase + items * ns_per_item; }
  };
  void take(const plan& how, const measured& found);
  [[nodiscard]] std::optional<scheme> worth_a_trial() const;

  model::correction_rules rules_;
  double items_in_one_, ways_, price_ns_ = 0;
  bool stays_;
  std::vector<alternative> routes_{};
  std::size_t taken_ = 0;
  std::vector<seen> now_{}, before_{};   // the last phases on this route, and on the one before it
  std::size_t phases_ = 0;               // on this route
  double since_change_ns_ = 0;           // what they cost by what is known
  std::optional<std::size_t> former_{};  // route, until it has been compared with this one
  std::uint64_t switches_ = 0;
};

}  // namespace lull::aggregate
