#include "fabric/team_slots.hpp"

#include <algorithm>
#include <bit>

#include "fabric/collectives.hpp"

namespace lull::fabric {

team_slots::team_slots(std::span<std::uint64_t> free, std::span<std::uint64_t> agreed, int slots)
    : free_(free), agreed_(agreed) {
  std::ranges::fill(free_, 0);
  for (int slot = first_free; slot < slots; ++slot) give_back(slot);
}

std::optional<int> team_slots::agree(team& parent) {
  const auto both = [](void* into, const void* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<std::uint64_t*>(into)[i] &= static_cast<const std::uint64_t*>(from)[i];
  };
  reduce(parent, agreed_.data(), free_.data(), free_.size(), sizeof(std::uint64_t), both, 0);
  for (std::size_t word = 0; word < agreed_.size(); ++word)
    if (agreed_[word] != 0) return static_cast<int>(word * 64) + std::countr_zero(agreed_[word]);
  return std::nullopt;
}

void team_slots::take(int slot) {
  free_[static_cast<std::size_t>(slot) / 64] &= ~(std::uint64_t{1} << static_cast<unsigned>(slot) % 64);
}

void team_slots::give_back(int slot) {
  free_[static_cast<std::size_t>(slot) / 64] |= std::uint64_t{1} << static_cast<unsigned>(slot) % 64;
}

}  // namespace lull::fabric
