// The direct path: phases without aggregation, how few items they may have, and the meeting of all at their end.
//
// All PEs begin such a phase together. One that finds it too large leaves the mode and says so to all, before it
// arrives at the meeting; those that wait there already see that somebody left.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/world.hpp"
#include "model/choices/account.hpp"
#include "model/costs/aggregation.hpp"

namespace lull::aggregate {

class direct_path {
 public:
  // Collective, as the destructor. Throws std::bad_alloc.
  explicit direct_path(fabric::world& world);
  ~direct_path();
  direct_path(const direct_path&) = delete;
  direct_path& operator=(const direct_path&) = delete;

  // How many items of a PE cost as much directly as the buffers of a phase do; 0: not even one does. `gets`: an item is
  // a get, else an atomic; what it and its phase cost in buffers is predicted. The machine's constants say it, corrected by what is
  // measured here (LULL_CHOOSE=auto). Collective; the same everywhere, so it stays.
  struct buffered {
    bool gets;
    double ns_per_item, ns_per_phase;
    double measured_ns_per_phase;
    double share_of_phase = 1;  // what the route that costs least in short phases takes of either
  };
  // `known`: as they were found before, for another route.
  [[nodiscard]] std::uint64_t limit(const buffered& other, const std::optional<model::direct_path_costs>& known);
  [[nodiscard]] const model::direct_path_costs& costs() const { return known_; }

  // Phases of one kind, with so many items of this PE in all of them.
  struct phases_seen {
    std::uint64_t phases = 0, items = 0;
  };
  // `direct`: what this choice has come to.
  [[nodiscard]] std::vector<model::choice_account> accounts(const phases_seen& direct,
                                                            const phases_seen& buffered) const;

  void leave(std::uint64_t phase);
  [[nodiscard]] bool somebody_left(std::uint64_t phase) const;
  // Returns when all have arrived, or somebody has left that phase.
  void meet(std::uint64_t phase);

 private:
  struct shared_words;
  [[nodiscard]] model::direct_path_costs measured(bool gets);
  void arrive();
  [[nodiscard]] bool all_arrived() const;

  fabric::world& world_;
  fabric::context traffic_;
  std::uint64_t pes_here_, other_nodes_;
  shared_words* mine_;          // symmetric
  shared_words* at_node_;       // that of the node's leader
  std::uint64_t meetings_ = 0;  // begun by this PE
  model::direct_path_costs predicted_{}, known_{};
  double buffered_ns_ = 0;  // an item
};

}  // namespace lull::aggregate
