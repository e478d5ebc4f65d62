#include "mpi/files/flattening.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "mpi/library.hpp"

namespace lull::mpi {
namespace {

using numbers = std::vector<std::int64_t>;

// What MPI_Type_get_contents returns. The numbers are those of the constructor's arguments in their order; a constructor
// with large counts has the same ones in another array.
struct contents {
  int combiner = 0;
  numbers counts;     // whole numbers, without `addresses`
  numbers addresses;  // in bytes
  std::vector<MPI_Datatype> types;
};

struct envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = 0;
};

// Libraries with large counts do not answer the older question for types that have them.
envelope envelope_of(MPI_Datatype type) {
  envelope made;
  using ask_large = int(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
  if (const auto ask = library_function<ask_large>(function::MPI_Type_get_envelope_c)) {
    ask(type, &made.integers, &made.addresses, &made.large_counts, &made.types, &made.combiner);
    return made;
  }
  int integers = 0, addresses = 0, types = 0;
  LULL_LIBRARY(MPI_Type_get_envelope)(type, &integers, &addresses, &types, &made.combiner);
  made.integers = integers;
  made.addresses = addresses;
  made.types = types;
  return made;
}

// Nothing has to be freed, and the library knows no inner types.
bool is_named(int combiner) {
#ifdef LULL_MPI_ABI
  if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

template <class Number>
numbers widened(const std::vector<Number>& of, std::size_t count) {
  return {of.begin(), of.begin() + static_cast<std::ptrdiff_t>(count)};
}

void insert_large_counts(contents& into, const numbers& large) {
  if (into.combiner == MPI_COMBINER_SUBARRAY) {  // dimensions, then sizes, subsizes and starts, then the order
    into.counts.insert(into.counts.begin() + 1, large.begin(), large.end());
    return;
  }
  if (into.combiner == MPI_COMBINER_DARRAY) {  // processes, rank, dimensions, then the global sizes
    into.counts.insert(into.counts.begin() + 3, large.begin(), large.end());
    return;
  }
  std::int64_t addresses = 0;  // they are the last ones
  switch (into.combiner) {
    case MPI_COMBINER_HVECTOR:
      addresses = 1;
      break;
    case MPI_COMBINER_RESIZED:
      addresses = 2;
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      addresses = large[0];
      break;
    default:
      break;
  }
  into.counts.assign(large.begin(), large.end() - addresses);
  into.addresses.assign(large.end() - addresses, large.end());
}

contents contents_of(MPI_Datatype type, const envelope& of) {
  const auto integers = static_cast<std::size_t>(of.integers), addresses = static_cast<std::size_t>(of.addresses),
             large = static_cast<std::size_t>(of.large_counts), types = static_cast<std::size_t>(of.types);
  // One more than needed, so that no address is null.
  std::vector<int> small(integers + 1);
  std::vector<MPI_Aint> bytes(addresses + 1);
  std::vector<MPI_Count> wide(large + 1);
  contents made{of.combiner, {}, {}, std::vector<MPI_Datatype>(types + 1)};
  using ask_large =
      int(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*, MPI_Count*, MPI_Datatype*);
  if (large > 0)
    library_function<ask_large>(function::MPI_Type_get_contents_c)(type, of.integers, of.addresses, of.large_counts,
                                                                   of.types, small.data(), bytes.data(), wide.data(),
                                                                   made.types.data());
  else
    LULL_LIBRARY(MPI_Type_get_contents)
  (type, static_cast<int>(integers), static_cast<int>(addresses), static_cast<int>(types), small.data(), bytes.data(),
   made.types.data());
  made.types.resize(types);
  made.counts = widened(small, integers);
  made.addresses = widened(bytes, addresses);
  if (large > 0) insert_large_counts(made, widened(wide, large));
  return made;
}

void add(std::vector<stage::piece>& to, std::int64_t offset, std::int64_t length) {
  if (length == 0) return;
  if (!to.empty() && to.back().end() == offset)
    to.back().length += length;
  else
    to.push_back({offset, length});
}

std::int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  LULL_LIBRARY(MPI_Type_get_extent)(type, &lower, &extent);
  return extent;
}

void add_type(MPI_Datatype type, std::int64_t at, std::vector<stage::piece>& to);

// One element of an inner type, which is added many times.
struct element {
  explicit element(MPI_Datatype type) : extent(extent_of(type)) { add_type(type, 0, pieces); }
  void add_to(std::vector<stage::piece>& to, std::int64_t at, std::int64_t count) const {
    if (count > 0 && pieces.size() == 1 && pieces[0].length == extent)
      return add(to, at + pieces[0].offset, extent * count);
    for (std::int64_t i = 0; i < count; ++i)
      for (const stage::piece& one : pieces) add(to, at + i * extent + one.offset, one.length);
  }
  std::int64_t extent;
  std::vector<stage::piece> pieces;
};

// Adds an element for each combination of the given indices, one list for each dimension; the first dimension of
// `fastest_first` changes fastest.
void add_grid(const element& one, std::int64_t at, const std::vector<numbers>& indices, const numbers& strides,
              const std::vector<std::size_t>& fastest_first, std::vector<stage::piece>& to) {
  if (std::ranges::any_of(indices, &numbers::empty)) return;
  std::vector<std::size_t> position(indices.size(), 0);
  for (;;) {
    std::int64_t offset = at;
    for (std::size_t i = 0; i < indices.size(); ++i) offset += indices[i][position[i]] * strides[i];
    // Neighbours in the fastest dimension together.
    const std::size_t fastest = fastest_first.front();
    const numbers& row = indices[fastest];
    std::size_t count = 1;
    while (position[fastest] + count < row.size() &&
           row[position[fastest] + count] == row[position[fastest]] + static_cast<std::int64_t>(count))
      ++count;
    one.add_to(to, offset, static_cast<std::int64_t>(count));
    position[fastest] += count;
    for (std::size_t i = 0; position[fastest_first[i]] == indices[fastest_first[i]].size();
         ++position[fastest_first[i]]) {
      position[fastest_first[i]] = 0;
      if (++i == fastest_first.size()) return;
    }
  }
}

// Dimensions from the fastest to the slowest, and bytes from one index to the next in each.
std::vector<std::size_t> order_of(std::size_t dimensions, bool fortran) {
  std::vector<std::size_t> order(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) order[i] = fortran ? i : dimensions - 1 - i;
  return order;
}

numbers strides_of(const numbers& sizes, const std::vector<std::size_t>& fastest_first, std::int64_t extent) {
  numbers strides(sizes.size());
  for (const std::size_t dimension : fastest_first) {
    strides[dimension] = extent;
    extent *= sizes[dimension];
  }
  return strides;
}

numbers part_of(const numbers& all, std::size_t begin, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

void add_subarray(const contents& of, const element& one, std::int64_t at, std::vector<stage::piece>& to) {
  const auto n = static_cast<std::size_t>(of.counts[0]);
  const numbers sizes = part_of(of.counts, 1, n), counts = part_of(of.counts, 1 + n, n),
                starts = part_of(of.counts, 1 + 2 * n, n);
  const auto order = order_of(n, of.counts[1 + 3 * n] == MPI_ORDER_FORTRAN);
  std::vector<numbers> indices(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < counts[i]; ++k) indices[i].push_back(starts[i] + k);
  add_grid(one, at, indices, strides_of(sizes, order, one.extent), order, to);
}

void add_darray(const contents& of, const element& one, std::int64_t at, std::vector<stage::piece>& to) {
  const auto n = static_cast<std::size_t>(of.counts[2]);
  const numbers sizes = part_of(of.counts, 3, n), kinds = part_of(of.counts, 3 + n, n),
                arguments = part_of(of.counts, 3 + 2 * n, n), grid = part_of(of.counts, 3 + 3 * n, n);
  const auto order = order_of(n, of.counts[3 + 4 * n] == MPI_ORDER_FORTRAN);
  std::int64_t rest = of.counts[1], processes = 1;
  for (const std::int64_t one_dimension : grid) processes *= one_dimension;
  std::vector<numbers> indices(n);
  for (std::size_t i = 0; i < n; ++i) {  // processes are in row-major order, whatever the order of the data
    processes /= grid[i];
    const std::int64_t mine = rest / processes;
    rest %= processes;
    const bool cyclic = kinds[i] == MPI_DISTRIBUTE_CYCLIC;
    std::int64_t block = arguments[i];
    if (block == MPI_DISTRIBUTE_DFLT_DARG) block = cyclic ? 1 : (sizes[i] + grid[i] - 1) / grid[i];
    for (std::int64_t index = 0; index < sizes[i]; ++index)
      if (kinds[i] == MPI_DISTRIBUTE_NONE || (cyclic ? index / block % grid[i] : index / block) == mine)
        indices[i].push_back(index);
  }
  add_grid(one, at, indices, strides_of(sizes, order, one.extent), order, to);
}

void add_named(MPI_Datatype type, std::int64_t at, std::vector<stage::piece>& to) {
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  LULL_LIBRARY(MPI_Type_size)(type, &size);
  LULL_LIBRARY(MPI_Type_get_true_extent)(type, &lower, &extent);
  if (size == 6 && extent == 8) {  // MPI_SHORT_INT, the only one with a gap inside
    add(to, at, 2);
    add(to, at + 4, 4);
  } else {
    add(to, at + lower, size);
  }
}

void add_constructed(const contents& of, std::int64_t at, std::vector<stage::piece>& to) {
  const numbers& n = of.counts;
  const auto count = static_cast<std::size_t>(n.empty() ? 0 : n[0]);
  if (of.combiner == MPI_COMBINER_STRUCT) {
    for (std::size_t i = 0; i < count; ++i) element(of.types[i]).add_to(to, at + of.addresses[i], n[1 + i]);
    return;
  }
  const element one(of.types.at(0));
  switch (of.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return one.add_to(to, at, 1);
    case MPI_COMBINER_CONTIGUOUS:
      return one.add_to(to, at, n[0]);
    case MPI_COMBINER_VECTOR:
      for (std::int64_t i = 0; i < n[0]; ++i) one.add_to(to, at + i * n[2] * one.extent, n[1]);
      return;
    case MPI_COMBINER_HVECTOR:
      for (std::int64_t i = 0; i < n[0]; ++i) one.add_to(to, at + i * of.addresses[0], n[1]);
      return;
    case MPI_COMBINER_INDEXED:
      for (std::size_t i = 0; i < count; ++i) one.add_to(to, at + n[1 + count + i] * one.extent, n[1 + i]);
      return;
    case MPI_COMBINER_HINDEXED:
      for (std::size_t i = 0; i < count; ++i) one.add_to(to, at + of.addresses[i], n[1 + i]);
      return;
    case MPI_COMBINER_INDEXED_BLOCK:
      for (std::size_t i = 0; i < count; ++i) one.add_to(to, at + n[2 + i] * one.extent, n[1]);
      return;
    case MPI_COMBINER_HINDEXED_BLOCK:
      for (std::size_t i = 0; i < count; ++i) one.add_to(to, at + of.addresses[i], n[1]);
      return;
    case MPI_COMBINER_SUBARRAY:
      return add_subarray(of, one, at, to);
    case MPI_COMBINER_DARRAY:
      return add_darray(of, one, at, to);
    default:
      throw error("stage a file of several processes",
                  "a datatype has constructor number " + std::to_string(of.combiner) + ", which Lull does not know",
                  "run the program without LULL_STAGE");
  }
}

void add_type(MPI_Datatype type, std::int64_t at, std::vector<stage::piece>& to) {
  const envelope what = envelope_of(type);
  if (is_named(what.combiner)) return add_named(type, at, to);
  contents of = contents_of(type, what);
  add_constructed(of, at, to);
  for (MPI_Datatype& inner : of.types)
    if (!is_named(envelope_of(inner).combiner)) LULL_LIBRARY(MPI_Type_free)(&inner);
}

flat_type complete(flat_type made) {
  for (const stage::piece& one : made.pieces) {
    made.begins.push_back(made.size);
    made.size += one.length;
  }
  return made;
}

}  // namespace

flat_type flattened(MPI_Datatype type) {
  flat_type made;
  add_type(type, 0, made.pieces);
  made.extent = extent_of(type);
  return complete(std::move(made));
}

flat_type flat_bytes() {
  flat_type made;
  made.pieces = {{0, 1}};
  made.extent = 1;
  return complete(std::move(made));
}

void gather(const flat_type& type, const void* buffer, std::int64_t from, std::int64_t length, std::byte* to) {
  const auto* const begin = static_cast<const std::byte*>(buffer);
  for_pieces(type, 0, from, length, [&](const stage::piece& one) {
    std::memcpy(to, begin + one.offset, static_cast<std::size_t>(one.length));
    to += one.length;
    return true;
  });
}

}  // namespace lull::mpi
