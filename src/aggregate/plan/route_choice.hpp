// Which route the phases of an aggregator take, as far as they could take another: the cheapest depends on how many items a
// phase has, which only the phases tell. What ends a phase is known of each route (route_ends.hpp); what its items cost is predicted,
// until phases on it are compared with those before.
//
//   phase_over(), phase by phase → wanted(): another route → all is made anew with it → compares(): what phases take on it,
//   beside those before → judge(): its items cost as much as that says; if it is slower, wanted() is the former route
//
// Of each other route it sums up what phases would have cost less on it, beyond a share that is not counted, and
// forgets what they would have cost more; when the sum comes to the price of a change, the change is worth it. So what is
// lost by waiting is no more than what a change costs, and phases that are now short, now long, change little. It is told
// nothing but what is the same on all PEs, so all come to the same. With LULL_CHOOSE=off the first route stays.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "aggregate/plan/plan.hpp"
#include "model/choices/account.hpp"
#include "model/machine/machine.hpp"

namespace lull::aggregate {

class route_choice {
 public:
  struct items {
    double in_one = 1;       // what is counted for an item: 1 but where bytes are counted
    bool both_ways = false;  // each has a reply
    double turns = 1;        // PEs of a core, which handle theirs one after the other
  };
  route_choice(const plan& how, double making_ns, const model::correction_rules& rules, const items& of);

  // A phase through buffers is over, in which the PE that has most has had so many; it took so long here.
  void phase_over(std::uint64_t most_pushed, std::int64_t ns);
  [[nodiscard]] std::optional<scheme> wanted() const;
  // By that route it is now.
  void changed(const plan& how, double making_ns);
  void stay() {  // whatever comes
    stays_ = true;
    former_.reset();
  }

  // After a change, phases enough to tell: what one of so many items took here before, and takes since.
  struct comparison {
    double items, before_ns, since_ns;
    bool like;  // before, too, nothing was new to memory
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
    double lost_ns;  // what phases would have cost less
    [[nodiscard]] double ns_of(double items) const { return ns_per_phase + items * ns_per_item; }
  };
  void take(const scheme& how, double making_ns);

  model::correction_rules rules_;
  double items_in_one_, ways_, price_ns_ = 0;
  bool stays_;
  std::vector<alternative> routes_{};
  std::size_t taken_ = 0;
  std::vector<seen> now_{}, before_{};   // the last phases on this route, and on the one before it
  std::size_t phases_ = 0;               // on this route
  std::size_t phases_before_ = 0;        // on the one before it
  std::optional<std::size_t> former_{};  // route, until it has been compared with this one
  std::uint64_t switches_ = 0;
};

}  // namespace lull::aggregate
