// Which blocks of symmetric memory teams use: members of a team use the same slot, and no PE uses one for two teams.
//
// agree() is collective over the parent of a new team. Several threads may agree on slots at once, each for a parent of
// its own: what the members of a parent offer is compared first, and taken then; where another thread was faster on
// some PE, all give it back and try another.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "fabric/teams/team.hpp"

namespace lull::fabric {

class team_slots {
 public:
  static constexpr int first_free = 2;  // 0: all PEs, 1: the neighbours
  explicit team_slots(int slots);

  // A slot that was free on all members of `parent` and is now taken on all of them; nothing when there is none.
  [[nodiscard]] std::optional<int> agree(team& parent);
  void give_back(int slot);

 private:
  [[nodiscard]] std::uint64_t free_of(std::size_t word);
  [[nodiscard]] bool take(int slot);

  std::mutex lock_;
  std::vector<std::uint64_t> free_;  // a bit for each slot
};

}  // namespace lull::fabric
