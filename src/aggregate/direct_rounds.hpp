// Rounds that are made without aggregation: how few items they may have, and the meeting of all at their end.
//
// All PEs begin such a round together. One that finds it too large leaves the mode and says so to all, before it
// arrives at the meeting; those that wait there already see that somebody left.
#pragma once
#include <cstdint>
#include <functional>

#include "fabric/world.hpp"

namespace lull::aggregate {

class direct_rounds {
 public:
  // Collective, as the destructor. Throws std::bad_alloc.
  explicit direct_rounds(fabric::world& world);
  ~direct_rounds();
  direct_rounds(const direct_rounds&) = delete;
  direct_rounds& operator=(const direct_rounds&) = delete;

  // How many items of a PE cost as much directly as the buffers of a round do; 0: not even one does. `gets`: an item is
  // a get, else an atomic; `aggregated_ns`: what it costs in a buffer. Collective; the same everywhere.
  [[nodiscard]] std::uint64_t measure(bool gets, double aggregated_ns, const std::function<void()>& empty_round);

  void leave(std::uint64_t round);
  [[nodiscard]] bool somebody_left(std::uint64_t round) const;
  // Returns when all have arrived, or somebody has left that round.
  void meet(std::uint64_t round);

 private:
  struct place;
  void arrive();
  [[nodiscard]] bool all_arrived() const;

  fabric::world& world_;
  fabric::context traffic_;
  std::uint64_t pes_here_, other_nodes_;
  place* mine_;                 // symmetric
  place* at_node_;              // that of the node's leader
  std::uint64_t meetings_ = 0;  // begun by this PE
};

}  // namespace lull::aggregate
