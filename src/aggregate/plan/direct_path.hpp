// The direct path: phases without aggregation, how few items they may have, and the barrier at their end.
//
// All PEs begin such a phase together. One that finds it too large leaves the mode and says so to all, before it
// arrives at the barrier; those that wait there already see that somebody left.
//
// How many items suit the direct path depends on where they go: a store or an atomic in shared memory costs some
// nanoseconds, a message to another node microseconds. So a phase has a budget, what it saves at its end, and each item
// has the price by which it is dearer than in a buffer.
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
  // Collective, like the destructor. Throws std::bad_alloc.
  explicit direct_path(fabric::world& world);
  ~direct_path();
  direct_path(const direct_path&) = delete;
  direct_path& operator=(const direct_path&) = delete;

  // The budget of a phase. `gets`: an item is a get, otherwise an atomic, or a put if it has more than 8 bytes. The
  // costs of an item and of a phase in buffers are predicted from the machine's constants, corrected by measurements
  // made here (LULL_CHOOSE=auto). Collective, with the same result on every PE, and therefore constant.
  struct buffered {
    bool gets;
    std::size_t item_bytes;
    double ns_per_item, ns_per_phase;
    double measured_ns_per_phase;
    double share_of_phase = 1;  // of both costs, for the route that costs least in short phases
  };
  // `known`: the costs found earlier, for another route.
  [[nodiscard]] model::direct_budget budget(const buffered& other,
                                            const std::optional<model::direct_path_costs>& known);
  [[nodiscard]] const model::direct_path_costs& costs() const { return known_; }

  // The phases of one kind, and the items of this PE in all of them.
  struct phases_seen {
    std::uint64_t phases = 0, items = 0;
  };
  // `direct`: the phases that took the direct path. Describes how this choice turned out.
  [[nodiscard]] std::vector<model::choice_account> accounts(const phases_seen& direct,
                                                            const phases_seen& buffered) const;

  void leave(std::uint64_t phase);
  [[nodiscard]] bool somebody_left(std::uint64_t phase) const;
  // Returns when all have arrived, or somebody has left that phase.
  void barrier(std::uint64_t phase);

 private:
  struct shared_words;
  [[nodiscard]] model::direct_path_costs measured(bool gets, std::size_t item_bytes);
  void arrive();
  [[nodiscard]] bool all_arrived() const;

  fabric::world& world_;
  fabric::context traffic_;
  std::uint64_t pes_here_, other_nodes_;
  shared_words* mine_;          // symmetric
  shared_words* at_node_;       // that of the node's leader
  std::uint64_t barriers_ = 0;  // begun by this PE
  model::direct_path_costs predicted_{}, known_{};
  double buffered_ns_ = 0;  // per item
};

}  // namespace lull::aggregate
