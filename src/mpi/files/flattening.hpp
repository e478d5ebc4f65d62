// Which bytes a datatype means: of a file, if it is the type of a view, or of memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/flavour.hpp"
#include "stage/shared/pieces.hpp"

namespace lull::mpi {

// One element of a type. An element number i begins i extents behind the first.
struct flat_type {
  std::vector<stage::piece> pieces;  // in the order of the data; those that touch are joined
  std::vector<std::int64_t> begins;  // bytes of data before each piece
  std::int64_t size = 0;             // bytes of data
  std::int64_t extent = 0;

  // Elements that follow each other have no gap between them.
  [[nodiscard]] bool is_contiguous() const {
    return pieces.empty() || (pieces.size() == 1 && pieces[0].offset == 0 && pieces[0].length == extent);
  }
};

// Throws lull::error for a type that was made by a constructor which this version of Lull does not know.
[[nodiscard]] flat_type flattened(MPI_Datatype type);
[[nodiscard]] flat_type flat_bytes();

// Calls each(piece) for the bytes [from, from + length) of the data of elements of this type that begin at `base`, in
// the order of the data, until it returns false.
template <class Each>
void for_pieces(const flat_type& type, std::int64_t base, std::int64_t from, std::int64_t length, const Each& each) {
  if (length <= 0 || type.size == 0) return;
  if (type.is_contiguous()) {
    (void)each(stage::piece{base + from, length});
    return;
  }
  std::int64_t element = from / type.size;
  const std::int64_t inside = from % type.size;
  auto number = static_cast<std::size_t>(std::ranges::upper_bound(type.begins, inside) - type.begins.begin()) - 1;
  std::int64_t skipped = inside - type.begins[number];
  while (length > 0) {
    const stage::piece& one = type.pieces[number];
    const std::int64_t bytes = std::min(length, one.length - skipped);
    if (!each(stage::piece{base + element * type.extent + one.offset + skipped, bytes})) return;
    length -= bytes;
    skipped = 0;
    if (++number == type.pieces.size()) number = 0, ++element;
  }
}

// Copies these bytes of the data at `buffer`, in their order.
void gather(const flat_type& type, const void* buffer, std::int64_t from, std::int64_t length, std::byte* to);

}  // namespace lull::mpi
