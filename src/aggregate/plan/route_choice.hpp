// The choice of a route for the phases of an aggregator, where several are possible. The cheapest route depends on the
// number of items per phase, which only the phases show. The cost of ending a phase is known for each route
// (route_ends.hpp); the cost of its items is predicted until phases on the route have been compared with earlier ones.
//
//   phase_over(), phase by phase → wanted(): another route → the aggregation is remade with it → compares(): the
//   duration of phases on it and on the former route → judge() corrects the cost of its items; if it is slower,
//   wanted() is the former route
//
// For each other route the class sums what phases would have saved on it, beyond a share that is not counted, and lets
// what they would have lost reduce the sum to zero at most. When the sum reaches the price of a change, the change
// pays. Waiting thus loses no more than a change costs, and phases of alternating length rarely cause a change. All
// inputs are the same on all PEs, so all PEs decide alike. With LULL_CHOOSE=off the first route stays.
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
    double in_one = 1;       // what one item adds to the count: 1, or its bytes where bytes are counted
    bool both_ways = false;  // each has a reply
    double turns = 1;        // PEs per core, which handle their items one after the other
  };
  route_choice(const plan& how, double making_ns, const model::correction_rules& rules, const items& of);

  // A phase through buffers is over: the most items that one PE pushed, and the duration here.
  void phase_over(std::uint64_t most_pushed, std::int64_t ns);
  [[nodiscard]] std::optional<scheme> wanted() const;
  // Reports that the aggregation now uses this route.
  void changed(const plan& how, double making_ns);
  void stay() {  // from now on, keeps the route
    stays_ = true;
    former_.reset();
  }

  // After a change, once there are enough phases: the duration of a phase of `items` items before and since, on this
  // PE.
  struct comparison {
    double items, before_ns, since_ns;
    bool like;  // the memory was no longer new in the earlier phases either
  };
  [[nodiscard]] std::optional<comparison> compares() const;
  void judge(const comparison& of_all);  // the same on all PEs

  [[nodiscard]] std::uint64_t switches() const { return switches_; }
  // How `how` turned out: the number of phases and items, and the CPU time of an item.
  [[nodiscard]] std::optional<model::choice_account> account(const plan& how, std::uint64_t phases,
                                                             std::uint64_t pushed, double cpu_ns_per_item) const;

 private:
  struct seen {
    double items;
    std::int64_t ns;
  };
  // The first phases on a route touch new memory, once in each buffer of each channel.
  static constexpr std::size_t most_seen = 16, fewest_seen = 3, new_to_memory = 16;
  static constexpr std::size_t phases_to_tell = new_to_memory + most_seen;
  [[nodiscard]] static std::optional<double> median_of_like(const std::vector<seen>& phases, double items);

  struct alternative {
    scheme how;
    double ns_per_item, ns_per_phase;
    double lost_ns;  // what phases would have saved
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
