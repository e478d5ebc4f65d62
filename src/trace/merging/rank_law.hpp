// How a parameter of a call follows from the rank of the process that makes it. A law never decides whether merging is
// exact: a parameter that follows none is kept as a table.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/folding/bytes.hpp"

namespace lull::trace::merging {

// A process among those to which a parameter may refer. Rank -1: it is none of them.
struct place {
  std::int64_t rank = -1, size = 0;
};

struct rank_law {
  enum class kind : std::uint8_t {
    constant,   // `by`
    shifted,    // rank + by
    flipped,    // rank xor by
    neighbour,  // in a grid of size[0] x size[1] x … ranks whose borders are joined, the ranks first along size[0];
                // the last size follows from the number of ranks. Coordinate i is moved by offset[i]
  };
  static constexpr std::size_t most_dimensions = 3;

  kind what = kind::constant;
  std::uint64_t by = 0;
  std::uint8_t dimensions = 1;
  std::array<std::uint32_t, most_dimensions> offset = {};
  std::array<std::uint32_t, most_dimensions - 1> size = {};

  bool operator==(const rank_law&) const = default;
  // None: the law has no value there, such as in a grid of another size.
  [[nodiscard]] std::optional<std::uint64_t> at(const place& p) const;
};

// The simplest law by which `values` follow from `places`; both have the same length, at least 1. `known`: laws that
// are tried first, because they cost nothing more.
[[nodiscard]] std::optional<rank_law> find_law(std::span<const std::uint64_t> values, std::span<const place> places,
                                               std::span<const rank_law> known);

void put_law(folding::bytes& to, const rank_law& law);
// None: it is damaged.
[[nodiscard]] std::optional<rank_law> read_law(folding::byte_reader& from);

}  // namespace lull::trace::merging
