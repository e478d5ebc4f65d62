// The deprecated collectives over active sets: every start, stride and size, every type, and pSync unchanged
// afterwards.
#include <algorithm>
#include <complex>
#include <vector>

#include "check.hpp"

namespace {

constexpr int work = 64;
long sync_words[2][SHMEM_SYNC_SIZE];

struct active {
  int start, log_stride, size;
  [[nodiscard]] int pe(int index) const { return start + (index << log_stride); }
  [[nodiscard]] int index_of(int pe) const {
    for (int i = 0; i < size; ++i)
      if (this->pe(i) == pe) return i;
    return -1;
  }
};

std::vector<active> sets(int pes) {
  std::vector<active> all;
  for (int start = 0; start < pes; ++start)
    for (int log_stride = 0; 1 << log_stride <= pes; ++log_stride)
      for (int size = 1; start + ((size - 1) << log_stride) < pes; ++size) {
        if (pes > 4 && (start + log_stride * 3 + size) % 4 != 0) continue;
        all.push_back({start, log_stride, size});
      }
  return all;
}

void sync_is_restored() {
  for (const auto& words : sync_words)
    CHECK(std::all_of(std::begin(words), std::end(words), [](long word) { return word == SHMEM_SYNC_VALUE; }));
}

// Two pSyncs in turn, so that calls may follow each other without a barrier.
long* next_sync() {
  static int turn = 0;
  return sync_words[turn++ % 2];
}

template <class T>
T value(int from, int to, std::size_t i) {
  return static_cast<T>(from * 10'000 + to * 100 + static_cast<int>(i));
}

#define SIZED(SIZE)                                                                                                 \
  template <class T>                                                                                                \
  void moves_##SIZE(const active& s, int me, T* dest, T* source) {                                                  \
    constexpr std::size_t n = 3;                                                                                    \
    const int mine = s.index_of(me);                                                                                \
    for (std::size_t i = 0; i < n; ++i) source[i] = value<T>(mine, 0, i);                                           \
    const int root = s.size - 1;                                                                                    \
    std::fill_n(dest, 3 * n * 8, T{});                                                                              \
    shmem_barrier(s.start, s.log_stride, s.size, next_sync());                                                      \
    shmem_broadcast##SIZE(dest, source, n, root, s.start, s.log_stride, s.size, next_sync());                       \
    for (std::size_t i = 0; i < n; ++i) CHECK(dest[i] == (mine == root ? T{} : value<T>(root, 0, i)));              \
    shmem_barrier(s.start, s.log_stride, s.size, next_sync());                                                      \
    shmem_fcollect##SIZE(dest, source, n, s.start, s.log_stride, s.size, next_sync());                              \
    for (int k = 0; k < s.size; ++k)                                                                                \
      for (std::size_t i = 0; i < n; ++i) CHECK(dest[static_cast<std::size_t>(k) * n + i] == value<T>(k, 0, i));    \
    shmem_barrier(s.start, s.log_stride, s.size, next_sync());                                                      \
    const auto part = [&](int k) { return static_cast<std::size_t>(k) % (n + 1); };                                 \
    shmem_collect##SIZE(dest, source, part(mine), s.start, s.log_stride, s.size, next_sync());                      \
    std::size_t at = 0;                                                                                             \
    for (int k = 0; k < s.size; ++k)                                                                                \
      for (std::size_t i = 0; i < part(k); ++i) CHECK(dest[at++] == value<T>(k, 0, i));                             \
    for (int k = 0; k < s.size; ++k)                                                                                \
      for (std::size_t i = 0; i < n; ++i) source[static_cast<std::size_t>(k) * n + i] = value<T>(mine, k, i);       \
    shmem_barrier(s.start, s.log_stride, s.size, next_sync());                                                      \
    shmem_alltoall##SIZE(dest, source, n, s.start, s.log_stride, s.size, next_sync());                              \
    for (int k = 0; k < s.size; ++k)                                                                                \
      for (std::size_t i = 0; i < n; ++i) CHECK(dest[static_cast<std::size_t>(k) * n + i] == value<T>(k, mine, i)); \
    std::fill_n(dest, 3 * n * 8, T{});                                                                              \
    for (int k = 0; k < s.size; ++k)                                                                                \
      for (std::size_t i = 0; i < n; ++i) source[(static_cast<std::size_t>(k) * n + i) * 2] = value<T>(mine, k, i); \
    shmem_barrier(s.start, s.log_stride, s.size, next_sync());                                                      \
    shmem_alltoalls##SIZE(dest, source, 3, 2, n, s.start, s.log_stride, s.size, next_sync());                       \
    for (std::size_t i = 0; i < 3 * n * static_cast<std::size_t>(s.size); ++i) {                                    \
      const int from = static_cast<int>(i / 3 / n);                                                                 \
      CHECK(dest[i] == (i % 3 == 0 ? value<T>(from, mine, i / 3 % n) : T{}));                                       \
    }                                                                                                               \
  }
SIZED(32)
SIZED(64)

void every_set(const ring& r) {
  auto* const dest32 = symmetric<std::int32_t>(3 * 3 * 8);
  auto* const source32 = symmetric<std::int32_t>(2 * 3 * 8);
  auto* const dest64 = symmetric<std::int64_t>(3 * 3 * 8);
  auto* const source64 = symmetric<std::int64_t>(2 * 3 * 8);
  auto* const passed = symmetric<int>(1);
  for (const active& s : sets(r.pes)) {
    if (s.index_of(r.me) >= 0) {
      moves_32(s, r.me, dest32, source32);
      moves_64(s, r.me, dest64, source64);
      for (int round = 1; round <= 3; ++round) {  // a barrier separates, and completes what was sent
        for (int k = 0; k < s.size; ++k) shmem_int_atomic_inc(passed, s.pe(k));
        shmem_barrier(s.start, s.log_stride, s.size, next_sync());
        CHECK(*passed == round * s.size);
        shmem_sync(s.start, s.log_stride, s.size, next_sync());
      }
      *passed = 0;
      sync_is_restored();
    }
    shmem_barrier_all();
  }
  shmem_free(passed);
  shmem_free(source64);
  shmem_free(dest64);
  shmem_free(source32);
  shmem_free(dest32);
}

#define REDUCES(NAME, TYPE, OP, EXPRESSION)                                                                            \
  {                                                                                                                    \
    constexpr int n = 7;                                                                                               \
    auto* const source = symmetric<TYPE>(n);                                                                           \
    auto* const dest = symmetric<TYPE>(n);                                                                             \
    auto* const space = symmetric<TYPE>(work);                                                                         \
    const auto number = [](int pe, int i) { return (pe + i) % 2 == 0 ? static_cast<TYPE>(1) : static_cast<TYPE>(2); }; \
    for (int i = 0; i < n; ++i) source[i] = number(r.me, i);                                                           \
    shmem_barrier_all();                                                                                               \
    for (const bool in_place : {false, true}) {                                                                        \
      TYPE* const into = in_place ? source : dest;                                                                     \
      shmem_##NAME##_##OP##_to_all(into, source, n, 0, 0, r.pes, space, next_sync());                                  \
      for (int i = 0; i < n; ++i) {                                                                                    \
        TYPE right = number(0, i);                                                                                     \
        for (int pe = 1; pe < r.pes; ++pe) {                                                                           \
          const TYPE a = right, b = number(pe, i);                                                                     \
          right = static_cast<TYPE>(EXPRESSION);                                                                       \
        }                                                                                                              \
        CHECK(into[i] == right);                                                                                       \
      }                                                                                                                \
    }                                                                                                                  \
    sync_is_restored();                                                                                                \
    shmem_free(space);                                                                                                 \
    shmem_free(dest);                                                                                                  \
    shmem_free(source);                                                                                                \
  }
#define AND(NAME, TYPE, A) REDUCES(NAME, TYPE, and, a& b)
#define OR(NAME, TYPE, A) REDUCES(NAME, TYPE, or, a | b)
#define XOR(NAME, TYPE, A) REDUCES(NAME, TYPE, xor, a ^ b)
#define MAX(NAME, TYPE, A) REDUCES(NAME, TYPE, max, std::max(a, b))
#define MIN(NAME, TYPE, A) REDUCES(NAME, TYPE, min, std::min(a, b))
#define SUM(NAME, TYPE, A) REDUCES(NAME, TYPE, sum, a + b)
#define PROD(NAME, TYPE, A) REDUCES(NAME, TYPE, prod, a* b)

void every_type_reduces(const ring& r) {
  LULL_BITWISE_TO_ALL_TYPES(AND, )
  LULL_BITWISE_TO_ALL_TYPES(OR, )
  LULL_BITWISE_TO_ALL_TYPES(XOR, )
  LULL_COMPARE_TO_ALL_TYPES(MAX, )
  LULL_COMPARE_TO_ALL_TYPES(MIN, )
  LULL_ARITHMETIC_TO_ALL_TYPES(SUM, )
  LULL_ARITHMETIC_TO_ALL_TYPES(PROD, )
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  every_set(r);
  every_type_reduces(r);
  finish();
}
