#include "fabric/teams/team_slots.hpp"

#include <bit>

#include "fabric/teams/collectives.hpp"

namespace lull::fabric {
namespace {

// The number of conflicts between threads after which no team is made.
constexpr int most_attempts = 1000;

// The bits that all members offer.
std::uint64_t common(team& parent, std::uint64_t offered) {
  const auto both = [](void* into, const void* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<std::uint64_t*>(into)[i] &= static_cast<const std::uint64_t*>(from)[i];
  };
  team_block& block = parent.mine();
  block.offered = offered;
  reduce(parent, &block.agreed, &block.offered, 1, sizeof block.offered, both, 0);
  return block.agreed;
}

int place_of_bit(std::uint64_t bits, int number) {
  for (; number > 0; --number) bits &= bits - 1;
  return std::countr_zero(bits);
}

}  // namespace

team_slots::team_slots(int slots) : free_((static_cast<std::size_t>(slots) + 63) / 64) {
  for (int slot = first_free; slot < slots; ++slot) give_back(slot);
}

std::optional<int> team_slots::agree(team& parent) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::uint64_t bits = 0;
    std::size_t word = 0;
    for (; word < free_.size() && bits == 0; ++word) bits = common(parent, free_of(word));
    if (bits == 0) return std::nullopt;
    // Parents that agree at the same time start with different slots.
    const int number = (parent.slot() + attempt) % std::popcount(bits);
    const int slot = static_cast<int>((word - 1) * 64) + place_of_bit(bits, number);
    const bool taken = take(slot);
    if (common(parent, taken ? 1 : 0) != 0) return slot;
    if (taken) give_back(slot);
  }
  return std::nullopt;
}

std::uint64_t team_slots::free_of(std::size_t word) {
  const std::lock_guard hold(lock_);
  return free_[word];
}

bool team_slots::take(int slot) {
  const std::lock_guard hold(lock_);
  std::uint64_t& word = free_[static_cast<std::size_t>(slot) / 64];
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(slot) % 64;
  if ((word & bit) == 0) return false;
  word &= ~bit;
  return true;
}

void team_slots::give_back(int slot) {
  const std::lock_guard hold(lock_);
  free_[static_cast<std::size_t>(slot) / 64] |= std::uint64_t{1} << static_cast<unsigned>(slot) % 64;
}

}  // namespace lull::fabric
