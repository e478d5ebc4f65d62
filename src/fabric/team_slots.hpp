// Which blocks of symmetric memory teams use: members of a team use the same slot, and no PE uses one for two teams.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "fabric/team.hpp"

namespace lull::fabric {

class team_slots {
 public:
  static constexpr int first_free = 2;  // 0: all PEs, 1: the neighbours
  // `free` and `agreed` are symmetric: a bit for each of `slots`.
  team_slots(std::span<std::uint64_t> free, std::span<std::uint64_t> agreed, int slots);
  [[nodiscard]] static std::size_t words_for(int slots) { return (static_cast<std::size_t>(slots) + 63) / 64; }

  // The lowest slot that is free on all members of `parent`. Collective over it; nothing when there is none.
  [[nodiscard]] std::optional<int> agree(team& parent);
  void take(int slot);
  void give_back(int slot);

 private:
  std::span<std::uint64_t> free_, agreed_;
};

}  // namespace lull::fabric
