// Waits for and tests of one value or several, of every type: which are checked, which are returned, and that all end.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

#define COMPARISONS(NAME, TYPE, A)                                                                                 \
  {                                                                                                                \
    auto* const cell = symmetric<TYPE>(1);                                                                         \
    *cell = 5;                                                                                                     \
    const auto holds = [&](int cmp, int with) { return shmem_##NAME##_test(cell, cmp, static_cast<TYPE>(with)); }; \
    CHECK(holds(SHMEM_CMP_EQ, 5) && !holds(SHMEM_CMP_EQ, 4) && holds(SHMEM_CMP_NE, 4) && !holds(SHMEM_CMP_NE, 5)); \
    CHECK(holds(SHMEM_CMP_GT, 4) && !holds(SHMEM_CMP_GT, 5) && holds(SHMEM_CMP_GE, 5) && !holds(SHMEM_CMP_GE, 6)); \
    CHECK(holds(SHMEM_CMP_LT, 6) && !holds(SHMEM_CMP_LT, 5) && holds(SHMEM_CMP_LE, 5) && !holds(SHMEM_CMP_LE, 4)); \
    *cell = static_cast<TYPE>(-1); /* the greatest when unsigned */                                                \
    CHECK(holds(SHMEM_CMP_GT, 0) == (std::is_unsigned_v<TYPE> ? 1 : 0));                                           \
    *cell = 5;                                                                                                     \
    for (const auto& [cmp, with] :                                                                                 \
         {std::pair{SHMEM_CMP_EQ, 5}, std::pair{SHMEM_CMP_NE, 4}, std::pair{SHMEM_CMP_GT, 4},                      \
          std::pair{SHMEM_CMP_GE, 5}, std::pair{SHMEM_CMP_LT, 6}, std::pair{SHMEM_CMP_LE, 5}})                     \
      shmem_##NAME##_wait_until(cell, cmp, static_cast<TYPE>(with));                                               \
    shmem_barrier_all();                                                                                           \
    shmem_##NAME##_p(cell, 9, r.next);                                                                             \
    shmem_##NAME##_wait_until(cell, SHMEM_CMP_EQ, 9);                                                              \
    shmem_barrier_all();                                                                                           \
    shmem_free(cell);                                                                                              \
  }

// Eight values, of which the neighbour sets those with even numbers; element 6 is excluded from the set.
#define SETS(NAME, TYPE, A)                                                                                     \
  {                                                                                                             \
    constexpr std::size_t n = 8;                                                                                \
    auto* const cells = symmetric<TYPE>(n);                                                                     \
    const int status[n] = {0, 0, 0, 0, 0, 0, 1, 0};                                                             \
    const int all_out[n] = {1, 1, 1, 1, 1, 1, 1, 1};                                                            \
    const int only_even[n] = {0, 1, 0, 1, 0, 1, 0, 1};                                                          \
    TYPE values[n];                                                                                             \
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<TYPE>(i + 1);                                   \
    std::size_t indices[n];                                                                                     \
    CHECK(shmem_##NAME##_test_any(cells, n, nullptr, SHMEM_CMP_NE, 0) == none);                                 \
    CHECK(shmem_##NAME##_test_some(cells, n, indices, nullptr, SHMEM_CMP_NE, 0) == 0);                          \
    CHECK(shmem_##NAME##_test_all(cells, n, nullptr, SHMEM_CMP_NE, 0) == 0);                                    \
    CHECK(shmem_##NAME##_test_all(cells, n, nullptr, SHMEM_CMP_EQ, 0) == 1);                                    \
    CHECK(shmem_##NAME##_test_any_vector(cells, n, nullptr, SHMEM_CMP_EQ, values) == none);                     \
    CHECK(shmem_##NAME##_test_some_vector(cells, n, indices, nullptr, SHMEM_CMP_EQ, values) == 0);              \
    CHECK(shmem_##NAME##_test_all_vector(cells, n, nullptr, SHMEM_CMP_EQ, values) == 0);                        \
    shmem_barrier_all();                                                                                        \
    for (std::size_t i = 0; i < n; i += 2) shmem_##NAME##_p(cells + i, static_cast<TYPE>(i + 1), r.next);       \
    const std::size_t one = shmem_##NAME##_wait_until_any(cells, n, status, SHMEM_CMP_NE, 0);                   \
    CHECK(one < 6 && one % 2 == 0);                                                                             \
    const std::size_t other = shmem_##NAME##_wait_until_any_vector(cells, n, status, SHMEM_CMP_EQ, values);     \
    CHECK(other < 6 && other % 2 == 0);                                                                         \
    std::size_t some = shmem_##NAME##_wait_until_some(cells, n, indices, status, SHMEM_CMP_NE, 0);              \
    CHECK(some >= 1 && some <= 3);                                                                              \
    for (std::size_t k = 0; k < some; ++k) CHECK(indices[k] < 6 && indices[k] % 2 == 0);                        \
    some = shmem_##NAME##_wait_until_some_vector(cells, n, indices, status, SHMEM_CMP_EQ, values);              \
    CHECK(some >= 1 && some <= 3);                                                                              \
    shmem_##NAME##_wait_until_all(cells, n, only_even, SHMEM_CMP_NE, 0);                                        \
    shmem_##NAME##_wait_until_all_vector(cells, n, only_even, SHMEM_CMP_EQ, values);                            \
    CHECK(shmem_##NAME##_test_all(cells, n, only_even, SHMEM_CMP_NE, 0) == 1);                                  \
    CHECK(shmem_##NAME##_test_all_vector(cells, n, only_even, SHMEM_CMP_EQ, values) == 1);                      \
    CHECK(shmem_##NAME##_test_some(cells, n, indices, nullptr, SHMEM_CMP_NE, 0) == 4);                          \
    CHECK(std::set<std::size_t>(indices, indices + 4) == (std::set<std::size_t>{0, 2, 4, 6}));                  \
    CHECK(shmem_##NAME##_test_some_vector(cells, n, indices, status, SHMEM_CMP_EQ, values) == 3);               \
    CHECK(shmem_##NAME##_test_any_vector(cells, n, nullptr, SHMEM_CMP_EQ, values) % 2 == 0);                    \
    shmem_##NAME##_wait_until_all(cells, 0, nullptr, SHMEM_CMP_EQ, 99); /* an empty set is no reason to wait */ \
    shmem_##NAME##_wait_until_all(cells, n, all_out, SHMEM_CMP_EQ, 99);                                         \
    CHECK(shmem_##NAME##_wait_until_any(cells, 0, nullptr, SHMEM_CMP_EQ, 99) == none);                          \
    CHECK(shmem_##NAME##_wait_until_any(cells, n, all_out, SHMEM_CMP_EQ, 99) == none);                          \
    CHECK(shmem_##NAME##_wait_until_some(cells, n, indices, all_out, SHMEM_CMP_EQ, 99) == 0);                   \
    CHECK(shmem_##NAME##_wait_until_some(cells, 0, indices, nullptr, SHMEM_CMP_EQ, 99) == 0);                   \
    CHECK(shmem_##NAME##_test_any(cells, n, all_out, SHMEM_CMP_NE, 99) == none);                                \
    CHECK(shmem_##NAME##_test_all(cells, 0, nullptr, SHMEM_CMP_EQ, 99) == 1);                                   \
    shmem_barrier_all();                                                                                        \
    shmem_free(cells);                                                                                          \
  }

void every_type(const ring& r) {
  LULL_WAIT_TYPES(COMPARISONS, )
  LULL_WAIT_TYPES(SETS, )
}

// A PE receives from all others as they arrive, without checking any of them twice.
void arrivals_are_taken_one_by_one(const ring& r) {
  const auto n = static_cast<std::size_t>(r.pes);
  auto* const flags = symmetric<long>(n);
  for (long round = 1; round <= 10; ++round) {
    for (int k = 0; k < r.pes; ++k) shmem_long_p(flags + r.me, round, (r.me + k) % r.pes);
    std::vector<int> taken(n, 0);
    for (std::size_t left = n; left != 0; --left) {
      const std::size_t i = shmem_long_wait_until_any(flags, n, taken.data(), SHMEM_CMP_GE, round);
      CHECK(i < n && taken[i] == 0);
      taken[i] = 1;
    }
    CHECK(shmem_long_wait_until_any(flags, n, taken.data(), SHMEM_CMP_GE, round) == none);
    shmem_barrier_all();
  }
  shmem_free(flags);
}

// A program that repeatedly asks for any of several values eventually gets each of them: with and without a vector,
// waiting and testing, even if calls on two sets of different lengths, or on the same array, alternate.
void each_that_is_ready_is_returned_in_the_end(const ring& r) {
  constexpr std::size_t most = 7;
  auto* const cells = symmetric<long>(most);
  long values[most];
  for (std::size_t i = 0; i < most; ++i) cells[i] = values[i] = 1;
  const int but_two[most] = {1, 0, 1, 1, 1, 0, 1};
  using ask = std::size_t (*)(long*, std::size_t, const int*, long*);
  constexpr ask ways[] = {
      [](long* at, std::size_t n, const int* out, long*) {
        return shmem_long_wait_until_any(at, n, out, SHMEM_CMP_EQ, 1);
      },
      [](long* at, std::size_t n, const int* out, long*) { return shmem_long_test_any(at, n, out, SHMEM_CMP_EQ, 1); },
      [](long* at, std::size_t n, const int* out, long* with) {
        return shmem_long_wait_until_any_vector(at, n, out, SHMEM_CMP_EQ, with);
      },
      [](long* at, std::size_t n, const int* out, long* with) {
        return shmem_long_test_any_vector(at, n, out, SHMEM_CMP_EQ, with);
      }};
  for (const ask any : ways) {
    for (std::size_t others = 0; others <= 4; ++others) {  // calls on other sets between two on the first
      std::set<std::size_t> seen, seen_of_two, seen_of_pair;
      for (int call = 0; call < 100; ++call) {
        seen.insert(any(cells, most, nullptr, values));
        if (others >= 1) seen_of_two.insert(any(cells, most, but_two, values));
        if (others >= 2) seen_of_pair.insert(any(cells + 1, 2, nullptr, values));
        for (std::size_t i = 2; i < others; ++i) CHECK(any(cells, i, nullptr, values) < i);
      }
      CHECK(seen == (std::set<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
      if (others >= 1) CHECK(seen_of_two == (std::set<std::size_t>{1, 5}));
      if (others >= 2) CHECK(seen_of_pair == (std::set<std::size_t>{0, 1}));
    }
  }
  shmem_barrier_all();
  std::fill_n(cells, most, 0);
  shmem_barrier_all();
  for (std::size_t i = 0; i < most; ++i) shmem_long_p(cells + i, 2, r.next);
  std::set<std::size_t> arrived;  // all by `any` alone, without an array that excludes those already seen
  while (arrived.size() < most) arrived.insert(shmem_long_wait_until_any(cells, most, nullptr, SHMEM_CMP_EQ, 2));
  shmem_barrier_all();
  shmem_free(cells);
}

// A loop of tests makes progress, even if the value comes from another node and PEs outnumber cores.
void testing_makes_progress(const ring& r) {
  auto* const flag = symmetric<int>(1);
  for (int round = 1; round <= 20; ++round) {
    if (r.me == 0) shmem_int_p(flag, round, r.next);
    while (!shmem_int_test(flag, SHMEM_CMP_GE, round)) {
    }
    if (r.me != 0) shmem_int_p(flag, round, r.next);
  }
  shmem_barrier_all();
  shmem_free(flag);
}

void the_old_names(const ring& r) {
  auto* const cell = symmetric<long>(1);
  auto* const small = symmetric<short>(1);
  shmem_barrier_all();
  shmem_long_p(cell, 3, r.next);
  shmem_wait(cell, 0);
  shmem_wait_until(cell, SHMEM_CMP_EQ, 3);
  shmem_long_wait(cell, 2);
  shmem_short_p(small, 4, r.next);
  shmem_short_wait(small, 0);
  CHECK(*small == 4 && *cell == 3);
  shmem_barrier_all();
  shmem_free(small);
  shmem_free(cell);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  every_type(r);
  arrivals_are_taken_one_by_one(r);
  each_that_is_ready_is_returned_in_the_end(r);
  testing_makes_progress(r);
  the_old_names(r);
  finish();
}
