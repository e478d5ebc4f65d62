// Collectives over teams: every type, every size class, in place, repeatedly without a barrier in between, several
// teams in turn.
#include <algorithm>
#include <complex>
#include <vector>

#include "check.hpp"

namespace {

// Small enough that products and sums of all PEs stay exact in every type.
template <class T>
T number(int pe, std::size_t i) {
  return (static_cast<std::size_t>(pe) + i) % 2 == 0 ? T(1) : T(2);
}

#define CHECKED(CALL) CHECK((CALL) == 0)

// Calls of one kind may follow each other at once if the areas differ or the data is the same: `dest` must be ready
// everywhere before a collective begins, so a barrier separates uses of one area with different contents.
#define MOVES(NAME, TYPE, A)                                                                                         \
  {                                                                                                                  \
    using type = TYPE;                                                                                               \
    constexpr std::size_t n = 3;                                                                                     \
    const std::size_t all = n * static_cast<std::size_t>(r.pes);                                                     \
    const auto value = [](int from, int to, std::size_t i) {                                                         \
      return static_cast<TYPE>((static_cast<std::size_t>(from) * 7 + static_cast<std::size_t>(to) * 3 + i) % 100);   \
    };                                                                                                               \
    auto* const source = symmetric<TYPE>(2 * all);                                                                   \
    auto* const dest = symmetric<TYPE>(3 * all);                                                                     \
    for (std::size_t i = 0; i < n; ++i) source[i] = value(r.me, 0, i);                                               \
    const int root = r.pes / 2;                                                                                      \
    CHECKED(shmem_##NAME##_broadcast(SHMEM_TEAM_WORLD, dest, source, n, root));                                      \
    for (std::size_t i = 0; i < n; ++i) CHECK(dest[i] == value(root, 0, i));                                         \
    shmem_barrier_all();                                                                                             \
    CHECKED(shmem_##NAME##_fcollect(SHMEM_TEAM_WORLD, dest, source, n));                                             \
    for (int pe = 0; pe < r.pes; ++pe)                                                                               \
      for (std::size_t i = 0; i < n; ++i) CHECK(dest[static_cast<std::size_t>(pe) * n + i] == value(pe, 0, i));      \
    shmem_barrier_all();                                                                                             \
    const std::size_t mine = static_cast<std::size_t>(r.me) % (n + 1); /* some give nothing */                       \
    CHECKED(shmem_##NAME##_collect(SHMEM_TEAM_WORLD, dest, source, mine));                                           \
    std::size_t at = 0;                                                                                              \
    for (int pe = 0; pe < r.pes; ++pe)                                                                               \
      for (std::size_t i = 0; i < static_cast<std::size_t>(pe) % (n + 1); ++i) CHECK(dest[at++] == value(pe, 0, i)); \
    shmem_barrier_all();                                                                                             \
    for (int to = 0; to < r.pes; ++to)                                                                               \
      for (std::size_t i = 0; i < n; ++i) source[static_cast<std::size_t>(to) * n + i] = value(r.me, to, i);         \
    CHECKED(shmem_##NAME##_alltoall(SHMEM_TEAM_WORLD, dest, source, n));                                             \
    for (int pe = 0; pe < r.pes; ++pe)                                                                               \
      for (std::size_t i = 0; i < n; ++i) CHECK(dest[static_cast<std::size_t>(pe) * n + i] == value(pe, r.me, i));   \
    shmem_barrier_all();                                                                                             \
    for (int to = 0; to < r.pes; ++to)                                                                               \
      for (std::size_t i = 0; i < n; ++i) source[(static_cast<std::size_t>(to) * n + i) * 2] = value(r.me, to, i);   \
    std::fill_n(dest, 3 * all, type{});                                                                              \
    shmem_barrier_all();                                                                                             \
    CHECKED(shmem_##NAME##_alltoalls(SHMEM_TEAM_WORLD, dest, source, 3, 2, n));                                      \
    for (std::size_t i = 0; i < 3 * all; ++i) {                                                                      \
      const std::size_t block = i / 3 / n;                                                                           \
      CHECK(dest[i] == (i % 3 == 0 ? value(static_cast<int>(block), r.me, i / 3 % n) : type{}));                     \
    }                                                                                                                \
    shmem_free(dest);                                                                                                \
    shmem_free(source);                                                                                              \
  }

void every_type_moves(const ring& r) { LULL_RMA_TYPES(MOVES, ) }

template <class T, class Combine>
T combined(int pes, std::size_t i, Combine combine) {
  T result = number<T>(0, i);
  for (int pe = 1; pe < pes; ++pe) result = combine(result, number<T>(pe, i));
  return result;
}

#define REDUCES(NAME, TYPE, OP, EXPRESSION)                                                          \
  {                                                                                                  \
    constexpr std::size_t n = 5;                                                                     \
    auto* const source = symmetric<TYPE>(n);                                                         \
    auto* const dest = symmetric<TYPE>(n);                                                           \
    for (std::size_t i = 0; i < n; ++i) source[i] = number<TYPE>(r.me, i);                           \
    const auto right = [&](std::size_t i) {                                                          \
      return combined<TYPE>(r.pes, i, [](TYPE a, TYPE b) { return static_cast<TYPE>(EXPRESSION); }); \
    };                                                                                               \
    CHECKED(shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, dest, source, n));                        \
    for (std::size_t i = 0; i < n; ++i) CHECK(dest[i] == right(i));                                  \
    CHECKED(shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, source, source, n)); /* in place */       \
    for (std::size_t i = 0; i < n; ++i) CHECK(source[i] == right(i));                                \
    shmem_free(dest);                                                                                \
    shmem_free(source);                                                                              \
  }
#define AND(NAME, TYPE, A) REDUCES(NAME, TYPE, and, a& b)
#define OR(NAME, TYPE, A) REDUCES(NAME, TYPE, or, a | b)
#define XOR(NAME, TYPE, A) REDUCES(NAME, TYPE, xor, a ^ b)
#define MAX(NAME, TYPE, A) REDUCES(NAME, TYPE, max, std::max(a, b))
#define MIN(NAME, TYPE, A) REDUCES(NAME, TYPE, min, std::min(a, b))
#define SUM(NAME, TYPE, A) REDUCES(NAME, TYPE, sum, a + b)
#define PROD(NAME, TYPE, A) REDUCES(NAME, TYPE, prod, a* b)

void every_type_reduces(const ring& r) {
  LULL_BITWISE_REDUCE_TYPES(AND, )
  LULL_BITWISE_REDUCE_TYPES(OR, )
  LULL_BITWISE_REDUCE_TYPES(XOR, )
  LULL_COMPARE_REDUCE_TYPES(MAX, )
  LULL_COMPARE_REDUCE_TYPES(MIN, )
  LULL_ARITHMETIC_REDUCE_TYPES(SUM, )
  LULL_ARITHMETIC_REDUCE_TYPES(PROD, )
}

#define SCANS(NAME, TYPE, A)                                                                                    \
  {                                                                                                             \
    using type = TYPE;                                                                                          \
    constexpr std::size_t n = 5;                                                                                \
    auto* const source = symmetric<TYPE>(n);                                                                    \
    auto* const dest = symmetric<TYPE>(n);                                                                      \
    const auto before = [&](int pe, std::size_t i) {                                                            \
      return pe == 0 ? type{} : combined<TYPE>(pe, i, [](TYPE a, TYPE b) { return static_cast<TYPE>(a + b); }); \
    };                                                                                                          \
    for (std::size_t i = 0; i < n; ++i) source[i] = number<TYPE>(r.me, i), dest[i] = type(1);                   \
    shmem_barrier_all();                                                                                        \
    CHECKED(shmem_##NAME##_sum_exscan(SHMEM_TEAM_WORLD, dest, source, n));                                      \
    for (std::size_t i = 0; i < n; ++i) CHECK(dest[i] == before(r.me, i));                                      \
    shmem_barrier_all();                                                                                        \
    CHECKED(shmem_##NAME##_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n));                                      \
    for (std::size_t i = 0; i < n; ++i) CHECK(dest[i] == before(r.me + 1, i));                                  \
    CHECKED(shmem_##NAME##_sum_inscan(SHMEM_TEAM_WORLD, source, source, n)); /* in place */                     \
    for (std::size_t i = 0; i < n; ++i) CHECK(source[i] == before(r.me + 1, i));                                \
    for (std::size_t i = 0; i < n; ++i) source[i] = number<TYPE>(r.me, i);                                      \
    CHECKED(shmem_##NAME##_sum_exscan(SHMEM_TEAM_WORLD, source, source, n));                                    \
    for (std::size_t i = 0; i < n; ++i) CHECK(source[i] == before(r.me, i));                                    \
    shmem_free(dest);                                                                                           \
    shmem_free(source);                                                                                         \
  }

void every_type_scans(const ring& r) { LULL_ARITHMETIC_REDUCE_TYPES(SCANS, ) }

// All collectives over `team` with `bytes` bytes per member.
void moves_and_sums(shmem_team_t team, unsigned char* dest, unsigned char* source, std::size_t bytes) {
  const int me = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
  const auto value = [](int pe, std::size_t i) {
    return static_cast<unsigned char>(static_cast<std::size_t>(pe) * 31 + i % 127);
  };
  const auto is = [&](const unsigned char* block, std::size_t count, int pe) {
    for (std::size_t i = 0; i < count; ++i)
      if (block[i] != value(pe, i)) return false;
    return true;
  };
  const auto prepare = [&] {
    for (std::size_t i = 0; i < bytes; ++i) source[i] = value(me, i);
  };
  prepare();
  for (int root = 0; root < size; root += std::max(1, size - 1)) {
    shmem_team_sync(team);
    CHECKED(shmem_broadcastmem(team, dest, source, bytes, root));
    CHECK(is(dest, bytes, root));
  }
  shmem_team_sync(team);
  CHECKED(shmem_fcollectmem(team, dest, source, bytes));
  for (int pe = 0; pe < size; ++pe) CHECK(is(dest + static_cast<std::size_t>(pe) * bytes, bytes, pe));
  shmem_team_sync(team);
  const auto part = [&](int pe) { return pe % 2 == 0 ? bytes : bytes / 2; };
  CHECKED(shmem_collectmem(team, dest, source, part(me)));
  std::size_t at = 0;
  for (int pe = 0; pe < size; ++pe) {
    CHECK(is(dest + at, part(pe), pe));
    at += part(pe);
  }
  shmem_team_sync(team);
  for (int pe = 0; pe < size; ++pe)
    for (std::size_t i = 0; i < bytes; ++i) source[static_cast<std::size_t>(pe) * bytes + i] = value(me + pe, i);
  CHECKED(shmem_alltoallmem(team, dest, source, bytes));
  for (int pe = 0; pe < size; ++pe) CHECK(is(dest + static_cast<std::size_t>(pe) * bytes, bytes, pe + me));
  shmem_team_sync(team);
  CHECKED(shmem_alltoallsmem(team, dest, source, 1, 1, bytes));
  for (int pe = 0; pe < size; ++pe) CHECK(is(dest + static_cast<std::size_t>(pe) * bytes, bytes, pe + me));
  shmem_team_sync(team);
  prepare();
  CHECKED(shmem_uchar_sum_reduce(team, dest, source, bytes));
  const auto sum = [&](std::size_t i) {
    unsigned total = 0;
    for (int pe = 0; pe < size; ++pe) total += value(pe, i);
    return static_cast<unsigned char>(total);
  };
  for (std::size_t i = 0; i < bytes; ++i) CHECK(dest[i] == sum(i));
  CHECKED(shmem_uchar_sum_reduce(team, source, source, bytes));
  for (std::size_t i = 0; i < bytes; ++i) CHECK(source[i] == sum(i));
  shmem_team_sync(team);
  prepare();
  const auto sum_of_first = [&](int members, std::size_t i) {
    unsigned total = 0;
    for (int pe = 0; pe < members; ++pe) total += value(pe, i);
    return static_cast<unsigned char>(total);
  };
  CHECKED(shmem_uchar_sum_exscan(team, dest, source, bytes));
  for (std::size_t i = 0; i < bytes; ++i) CHECK(dest[i] == sum_of_first(me, i));
  CHECKED(shmem_uchar_sum_inscan(team, source, source, bytes));
  for (std::size_t i = 0; i < bytes; ++i) CHECK(source[i] == sum_of_first(me + 1, i));
  shmem_team_sync(team);
}

void every_size_on_several_teams(const ring& r) {
  constexpr std::size_t most = std::size_t{1} << 20;
  shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID, reversed = SHMEM_TEAM_INVALID;
  CHECKED(shmem_team_split_2d(SHMEM_TEAM_WORLD, std::max(1, r.pes / 2), nullptr, 0, &row, nullptr, 0, &column));
  CHECKED(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &reversed));
  auto* const dest = symmetric<unsigned char>(most * static_cast<std::size_t>(r.pes));
  auto* const source = symmetric<unsigned char>(most * static_cast<std::size_t>(r.pes));
  const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, row, column, reversed};
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{1001}, std::size_t{16384},
                                  std::size_t{16385}, std::size_t{100} << 10U})
    for (const shmem_team_t team : teams) {
      moves_and_sums(team, dest, source, bytes);
      shmem_barrier_all();  // the areas are shared by all teams
    }
  moves_and_sums(reversed, dest, source, r.pes > 3 ? most / 4 : most);
  shmem_free(source);
  shmem_free(dest);
  shmem_team_destroy(reversed);
  shmem_team_destroy(column);
  shmem_team_destroy(row);
}

// A PE that returns from a reduction may change its source at once and reduce again into the same place.
void reductions_follow_each_other(const ring& r) {
  auto* const source = symmetric<long>(2);
  auto* const dest = symmetric<long>(2);
  for (long round = 0; round < 200; ++round) {
    source[0] = round + r.me;
    source[1] = -round;
    CHECKED(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 2));
    CHECK(dest[0] == round * r.pes + r.pes * (r.pes - 1) / 2 && dest[1] == -round * r.pes);
    CHECKED(shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, 1));
    CHECK(dest[0] == round + r.pes - 1);
  }
  shmem_sync_all();  // a broadcast may write into dest where the last reduction has not been read yet
  for (long round = 0; round < 200; ++round) {  // the two halves alternate: the half being read is not written
    source[round % 2] = round * 10 + r.me;
    CHECKED(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest + round % 2, source + round % 2, 1,
                                 static_cast<int>(round) % r.pes));
    CHECK(dest[round % 2] == round * 10 + round % r.pes);
    shmem_sync_all();
  }
  shmem_free(dest);
  shmem_free(source);
}

// Scans, reductions and collects in turn, without a barrier between them: each leaves the memory that they share at
// rest. A scan of one element over all PEs is their most frequent use: it numbers items of several PEs.
void scans_follow_other_collectives(const ring& r) {
  auto* const source = symmetric<long>(3);
  auto* const dest = symmetric<long>(3);
  auto* const all = symmetric<long>(static_cast<std::size_t>(r.pes));
  for (long round = 0; round < 200; ++round) {
    source[0] = round + r.me;
    CHECKED(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest, source, 1));
    CHECK(dest[0] == round * r.me + r.me * (r.me - 1) / 2);
    source[1] = round - r.me;
    CHECKED(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest + 1, source + 1, 1));
    CHECK(dest[1] == round * r.pes - r.pes * (r.pes - 1) / 2);
    source[2] = 1;
    CHECKED(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest + 2, source + 2, 1));
    CHECK(dest[2] == r.me + 1);
    CHECKED(shmem_long_fcollect(SHMEM_TEAM_WORLD, all, dest + 2, 1));
    for (int pe = 0; pe < r.pes; ++pe) CHECK(all[pe] == pe + 1);
  }
  shmem_free(all);
  shmem_free(dest);
  shmem_free(source);
}

// The same calls give the same bits on all PEs, although the order of additions matters.
void floating_sums_agree_everywhere(const ring& r) {
  constexpr std::size_t n = 1000;
  auto* const source = symmetric<double>(n);
  auto* const dest = symmetric<double>(n);
  for (std::size_t i = 0; i < n; ++i) source[i] = 1.0 / (static_cast<double>(i) + 3 * r.me + 1);
  CHECKED(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n));
  shmem_barrier_all();
  std::vector<double> theirs(n);
  shmem_double_get(theirs.data(), dest, n, r.next);
  CHECK(std::equal(theirs.begin(), theirs.end(), dest));
  shmem_barrier_all();
  shmem_free(dest);
  shmem_free(source);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  every_type_moves(r);
  every_type_reduces(r);
  every_type_scans(r);
  every_size_on_several_teams(r);
  reductions_follow_each_other(r);
  scans_follow_other_collectives(r);
  floating_sums_agree_everywhere(r);
  finish();
}
