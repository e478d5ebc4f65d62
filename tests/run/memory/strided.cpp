// iput, iget, ibput and ibget of every type and size change the elements named by the strides, and no others.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "check.hpp"

namespace {

struct pattern {
  std::ptrdiff_t dst, sst;
  std::size_t count, block = 1;
};
constexpr pattern patterns[] = {{1, 1, 5}, {2, 1, 4}, {1, 3, 4}, {3, 2, 4}, {4, 4, 0}, {-1, 1, 4}, {2, -2, 3}};
// Of blocks: their strides are at least their length. Adjacent on both sides, on one, on none; of one element; none.
constexpr pattern of_blocks[] = {{3, 3, 4, 3}, {2, 5, 3, 2}, {5, 2, 3, 2}, {4, 3, 4, 3},
                                 {2, 1, 4, 1}, {4, 4, 0, 4}, {3, 3, 2, 0}};
constexpr std::ptrdiff_t middle = 16;
constexpr std::size_t extent = 32;

template <class T>
void expect(const T* area, const pattern& p, int pe) {
  std::vector<T> right(extent);
  for (std::size_t i = 0; i < p.count * p.block; ++i) {
    const auto block = static_cast<std::ptrdiff_t>(i / p.block), element = static_cast<std::ptrdiff_t>(i % p.block);
    right[static_cast<std::size_t>(middle + block * p.dst + element)] =
        static_cast<T>(static_cast<std::size_t>(middle + block * p.sst + element) + static_cast<std::size_t>(pe) + 1);
  }
  CHECK(std::equal(right.begin(), right.end(), area));
}

template <class T, class Put, class Get>
void both_ways(const ring& r, std::span<const pattern> tried, Put put, Get get) {
  auto* const target = symmetric<T>(extent);
  auto* const source = symmetric<T>(extent);
  for (std::size_t i = 0; i < extent; ++i) source[i] = static_cast<T>(i + static_cast<std::size_t>(r.me) + 1);
  for (const pattern& p : tried) {
    shmem_barrier_all();
    put(target + middle, source + middle, p);
    shmem_barrier_all();
    expect(target, p, r.before);
    std::fill_n(target, extent, T{});
    shmem_barrier_all();
    get(target + middle, source + middle, p);
    expect(target, p, r.next);
    std::fill_n(target, extent, T{});
  }
  shmem_free(source);
  shmem_free(target);
}

#define BOTH(T, IPUT, IGET)                                                                                        \
  both_ways<T>(                                                                                                    \
      r, patterns, [&](T* d, const T* s, const pattern& p) { shmem_##IPUT(d, s, p.dst, p.sst, p.count, r.next); }, \
      [&](T* d, const T* s, const pattern& p) { shmem_##IGET(d, s, p.dst, p.sst, p.count, r.next); });             \
  both_ways<T>(                                                                                                    \
      r, patterns,                                                                                                 \
      [&](T* d, const T* s, const pattern& p) {                                                                    \
        shmem_ctx_##IPUT(ctx, d, s, p.dst, p.sst, p.count, r.next);                                                \
        shmem_ctx_quiet(ctx);                                                                                      \
      },                                                                                                           \
      [&](T* d, const T* s, const pattern& p) { shmem_ctx_##IGET(ctx, d, s, p.dst, p.sst, p.count, r.next); });
#define BLOCKS(T, IBPUT, IBGET)                                                                                  \
  both_ways<T>(                                                                                                  \
      r, of_blocks,                                                                                              \
      [&](T* d, const T* s, const pattern& p) { shmem_##IBPUT(d, s, p.dst, p.sst, p.block, p.count, r.next); },  \
      [&](T* d, const T* s, const pattern& p) { shmem_##IBGET(d, s, p.dst, p.sst, p.block, p.count, r.next); }); \
  both_ways<T>(                                                                                                  \
      r, of_blocks,                                                                                              \
      [&](T* d, const T* s, const pattern& p) {                                                                  \
        shmem_ctx_##IBPUT(ctx, d, s, p.dst, p.sst, p.block, p.count, r.next);                                    \
        shmem_ctx_quiet(ctx);                                                                                    \
      },                                                                                                         \
      [&](T* d, const T* s, const pattern& p) {                                                                  \
        shmem_ctx_##IBGET(ctx, d, s, p.dst, p.sst, p.block, p.count, r.next);                                    \
      });
#define ONE_TYPE(NAME, TYPE, A) BOTH(TYPE, NAME##_iput, NAME##_iget) BLOCKS(TYPE, NAME##_ibput, NAME##_ibget)

void every_type(const ring& r, shmem_ctx_t ctx) { LULL_RMA_TYPES(ONE_TYPE, ) }

struct wide {  // 128 bits
  std::uint64_t low = 0, high = 0;
  wide() = default;
  explicit wide(std::size_t number) : low(number), high(~number) {}
  bool operator==(const wide&) const = default;
};

void every_size(const ring& r, shmem_ctx_t ctx) {
  BOTH(std::uint8_t, iput8, iget8)
  BOTH(std::uint16_t, iput16, iget16)
  BOTH(std::uint32_t, iput32, iget32)
  BOTH(std::uint64_t, iput64, iget64)
  BOTH(wide, iput128, iget128)
  BLOCKS(std::uint8_t, ibput8, ibget8)
  BLOCKS(std::uint16_t, ibput16, ibget16)
  BLOCKS(std::uint32_t, ibput32, ibget32)
  BLOCKS(std::uint64_t, ibput64, ibget64)
  BLOCKS(wide, ibput128, ibget128)
}

// More than one message between nodes: some columns of a matrix, the first and the last rows of blocks among them; and
// blocks that are larger than a message.
void large_blocks(const ring& r) {
  constexpr std::size_t rows = 20'000, columns = 8, some = 5;
  auto* const matrix = symmetric<long>(rows * columns);
  std::vector<long> part(rows * some), back(rows * some);
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<long>(i) * 10 + r.me + 1;
  shmem_long_ibput(matrix + 2, part.data(), columns, some, some, rows, r.next);
  shmem_barrier_all();
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t row = i / columns, column = i % columns;
    const bool changed = column >= 2 && column < 2 + some;
    CHECK(matrix[i] == (changed ? static_cast<long>(row * some + column - 2) * 10 + r.before + 1 : 0));
  }
  shmem_long_ibget(back.data(), matrix + 2, some, columns, some, rows, r.next);
  CHECK(back == part);
  shmem_barrier_all();
  shmem_free(matrix);
  constexpr std::size_t block = 100'000;  // longs
  auto* const area = symmetric<long>(3 * block);
  std::vector<long> mine(2 * block, r.me + 1), theirs(2 * block);
  shmem_long_ibput(area, mine.data(), 2 * block, block, block, 2, r.next);
  shmem_barrier_all();
  for (std::size_t i = 0; i < 3 * block; ++i) CHECK(area[i] == (i / block == 1 ? 0 : r.before + 1));
  shmem_ibget64(theirs.data(), area, block, 2 * block, block, 2, r.next);
  CHECK(theirs == mine);
  shmem_barrier_all();
  shmem_free(area);
}

// More than one message between nodes, and a column of a matrix.
void large_ones(const ring& r) {
  constexpr std::size_t rows = 50'000, columns = 3;
  auto* const matrix = symmetric<double>(rows * columns);
  std::vector<double> column(rows), back(rows);
  for (std::size_t i = 0; i < rows; ++i) column[i] = static_cast<double>(i) + r.me * 0.25;
  shmem_double_iput(matrix + 1, column.data(), columns, 1, rows, r.next);
  shmem_barrier_all();
  for (std::size_t i = 0; i < rows; ++i) {
    CHECK(matrix[i * columns] == 0 && matrix[i * columns + 2] == 0);
    CHECK(matrix[i * columns + 1] == static_cast<double>(i) + r.before * 0.25);
  }
  shmem_double_iget(back.data(), matrix + 1, 1, columns, rows, r.next);
  CHECK(back == column);
  shmem_barrier_all();
  shmem_free(matrix);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
  every_type(r, ctx);
  every_size(r, ctx);
  large_ones(r);
  large_blocks(r);
  shmem_ctx_destroy(ctx);
  finish();
}
