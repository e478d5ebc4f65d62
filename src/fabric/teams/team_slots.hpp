// The blocks of symmetric memory that teams use: members of a team use the same slot, and no PE uses one for two teams.
//
// agree() is collective over the parent of a new team. Several threads may agree on slots at once, each for another
// parent: they first compare what the members of the parent offer, then take a slot. If another thread was faster on
// some PE, all members give the slot back and try another.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "fabric/teams/team.hpp"

namespace lull::fabric {

class team_slots {
 public:
  static constexpr int first_free = 2;  // 0: all PEs, 1: the PEs of this node
  explicit team_slots(int slots);

  // A slot that was free on all members of `parent` and is now taken on all of them; empty if there is none.
  [[nodiscard]] std::optional<int> agree(team& parent);
  void give_back(int slot);

 private:
  [[nodiscard]] std::uint64_t free_of(std::size_t word);
  [[nodiscard]] bool take(int slot);

  std::mutex lock_;
  std::vector<std::uint64_t> free_;  // a bit for each slot
};

}  // namespace lull::fabric
