#include "trace/merging/rank_law.hpp"

#include <algorithm>

namespace lull::trace::merging {
namespace {

using folding::put_number;
using folding::unzigzag;
using folding::zigzag;

constexpr std::int64_t largest_grid = 1 << 24;

bool is_in_grid(const place& p) { return p.rank >= 0 && p.rank < p.size && p.size <= largest_grid; }

// The sizes of the grid's dimensions; all 0 if so many ranks make no such grid.
std::array<std::int64_t, rank_law::most_dimensions> extents(const rank_law& law, std::int64_t ranks) {
  std::array<std::int64_t, rank_law::most_dimensions> made{};
  std::int64_t left = ranks;
  for (std::size_t i = 0; i + 1 < law.dimensions; ++i) {
    made[i] = law.size[i];
    if (made[i] <= 0 || left % made[i] != 0) return {};
    left /= made[i];
  }
  made[law.dimensions - 1U] = left;
  return made;
}

std::optional<std::uint64_t> neighbour_of(const rank_law& law, const place& p) {
  if (!is_in_grid(p)) return {};
  const auto size = extents(law, p.size);
  std::int64_t left = p.rank, found = 0, step = 1;
  for (std::size_t i = 0; i < law.dimensions; ++i) {
    if (size[i] <= 0) return {};
    found += (left % size[i] + law.offset[i]) % size[i] * step;
    left /= size[i];
    step *= size[i];
  }
  return static_cast<std::uint64_t>(found);
}

bool holds(const rank_law& law, std::span<const std::uint64_t> values, std::span<const place> places) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (law.at(places[i]) != values[i]) return false;
  return true;
}

// The law of a grid of these sizes, by which the first value follows.
std::optional<rank_law> law_of_grid(std::uint64_t value, const place& p, std::uint32_t first, std::uint32_t second) {
  rank_law law{.what = rank_law::kind::neighbour, .size = {first, second}};
  law.dimensions = static_cast<std::uint8_t>(second > 0 ? 3 : first > 0 ? 2 : 1);
  const auto size = extents(law, p.size);
  std::int64_t from = p.rank, to = static_cast<std::int64_t>(value);
  for (std::size_t i = 0; i < law.dimensions; ++i) {
    if (size[i] <= 0) return {};
    law.offset[i] = static_cast<std::uint32_t>((to % size[i] - from % size[i] + size[i]) % size[i]);
    from /= size[i];
    to /= size[i];
  }
  return law;
}

std::optional<rank_law> find_grid(std::span<const std::uint64_t> values, std::span<const place> places) {
  const std::int64_t ranks = places[0].size;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_in_grid(places[i]) || places[i].size != ranks || values[i] >= static_cast<std::uint64_t>(ranks)) return {};
  const auto try_grid = [&](std::uint32_t first, std::uint32_t second) -> std::optional<rank_law> {
    auto law = law_of_grid(values[0], places[0], first, second);
    return law && holds(*law, values, places) ? law : std::nullopt;
  };
  if (auto law = try_grid(0, 0)) return law;
  const auto divides = [](std::uint32_t by, std::int64_t what) { return what % by == 0 && by < what; };
  for (std::uint32_t first = 2; first * std::int64_t{2} <= ranks; ++first)
    if (divides(first, ranks))
      if (auto law = try_grid(first, 0)) return law;
  for (std::uint32_t first = 2; first * std::int64_t{4} <= ranks; ++first)
    for (std::uint32_t second = 2; divides(first, ranks) && second * std::int64_t{2} <= ranks / first; ++second)
      if (divides(second, ranks / first))
        if (auto law = try_grid(first, second)) return law;
  return {};
}

}  // namespace

std::optional<std::uint64_t> rank_law::at(const place& p) const {
  switch (what) {
    case kind::constant:
      return by;
    case kind::shifted:
      return p.rank < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(p.rank) + by);
    case kind::flipped:
      return p.rank < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(p.rank) ^ by);
    case kind::neighbour:
      return neighbour_of(*this, p);
  }
  return {};
}

std::optional<rank_law> find_law(std::span<const std::uint64_t> values, std::span<const place> places,
                                 std::span<const rank_law> known) {
  using kind = rank_law::kind;
  const rank_law constant{.what = kind::constant, .by = values[0]};
  if (holds(constant, values, places)) return constant;
  for (const rank_law& law : known)
    if (holds(law, values, places)) return law;
  const auto rank = static_cast<std::uint64_t>(places[0].rank);
  for (const rank_law& law : {rank_law{.what = kind::shifted, .by = values[0] - rank},
                              rank_law{.what = kind::flipped, .by = values[0] ^ rank}})
    if (holds(law, values, places)) return law;
  return find_grid(values, places);
}

void put_law(folding::bytes& to, const rank_law& law) {
  to.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(law.what) | unsigned{law.dimensions} << 4));
  if (law.what != rank_law::kind::neighbour) return put_number(to, zigzag(law.by));
  for (std::size_t i = 0; i < law.dimensions; ++i) put_number(to, law.offset[i]);
  for (std::size_t i = 0; i + 1 < law.dimensions; ++i) put_number(to, law.size[i]);
}

std::optional<rank_law> read_law(folding::byte_reader& from) {
  rank_law law;
  const unsigned both = from.byte();
  law.what = static_cast<rank_law::kind>(both & 0xfU);
  law.dimensions = static_cast<std::uint8_t>(both >> 4);
  if (law.what > rank_law::kind::neighbour || law.dimensions < 1 || law.dimensions > rank_law::most_dimensions)
    return {};
  if (law.what != rank_law::kind::neighbour) {
    law.by = unzigzag(from.number());
  } else {
    for (std::size_t i = 0; i < law.dimensions; ++i) law.offset[i] = static_cast<std::uint32_t>(from.number());
    for (std::size_t i = 0; i + 1 < law.dimensions; ++i) law.size[i] = static_cast<std::uint32_t>(from.number());
  }
  return from.failed() ? std::nullopt : std::optional(law);
}

}  // namespace lull::trace::merging
