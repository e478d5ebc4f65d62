// Atomics from all PEs on the same words lose no update, through shared memory or as messages.
#include "check.hpp"

namespace {

constexpr int rounds = 500;

void sums_are_exact(int me, int pes) {
#define ONE_TYPE(NAME, TYPE, A)                                                                            \
  {                                                                                                        \
    auto* const cell = static_cast<TYPE*>(shmem_calloc(2, sizeof(TYPE)));                                  \
    for (int i = 0; i < rounds; ++i) {                                                                     \
      shmem_##NAME##_atomic_add(cell, static_cast<TYPE>(2), i % pes);                                      \
      shmem_##NAME##_atomic_inc(cell, i % pes);                                                            \
    }                                                                                                      \
    shmem_##NAME##_atomic_fetch_add(cell + 1, static_cast<TYPE>(me + 1), 0);                               \
    shmem_barrier_all();                                                                                   \
    const int visits = rounds / pes + (me < rounds % pes ? 1 : 0);                                         \
    CHECK(*cell == static_cast<TYPE>(3 * visits * pes));                                                   \
    CHECK(shmem_##NAME##_atomic_fetch(cell + 1, 0) == static_cast<TYPE>(pes * (pes + 1) / 2));             \
    shmem_barrier_all();                                                                                   \
    shmem_##NAME##_atomic_set(cell, static_cast<TYPE>(5), (me + 1) % pes);                                 \
    shmem_barrier_all();                                                                                   \
    CHECK(shmem_##NAME##_atomic_swap(cell, static_cast<TYPE>(6), (me + 1) % pes) == static_cast<TYPE>(5)); \
    shmem_barrier_all();                                                                                   \
    CHECK(*cell == static_cast<TYPE>(6));                                                                  \
    shmem_free(cell);                                                                                      \
  }
  LULL_AMO_TYPES(ONE_TYPE, )
}

void tickets_are_unique(int me, int pes) {
  auto* const ticket = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  auto* const taken = static_cast<int*>(shmem_calloc(static_cast<std::size_t>(pes) * rounds, sizeof(int)));
  for (int i = 0; i < rounds; ++i) shmem_int_atomic_inc(taken + shmem_long_atomic_fetch_inc(ticket, 0), 0);
  shmem_barrier_all();
  if (me == 0)
    for (int i = 0; i < pes * rounds; ++i) CHECK(taken[i] == 1);
  shmem_free(taken);
  shmem_free(ticket);
}

void a_lock_of_compare_and_swap_excludes(int pes) {
  auto* const lock = static_cast<int*>(shmem_calloc(1, sizeof(int)));
  auto* const counter = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (int i = 0; i < 50; ++i) {
    while (shmem_int_atomic_compare_swap(lock, 0, 1, 0) != 0) {
    }
    const long seen = shmem_long_g(counter, 0);  // not atomic: only the lock makes it correct
    shmem_long_p(counter, seen + 1, 0);
    shmem_quiet();
    shmem_int_atomic_set(lock, 0, 0);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(counter, 0) == 50L * pes);
  shmem_barrier_all();
  shmem_free(counter);
  shmem_free(lock);
}

void bits(int me, int pes) {
  auto* const word = static_cast<std::uint64_t*>(shmem_calloc(1, sizeof(std::uint64_t)));
  const std::uint64_t mine = std::uint64_t{1} << me;
  shmem_uint64_atomic_or(word, mine, 0);
  shmem_barrier_all();
  CHECK(shmem_uint64_atomic_fetch(word, 0) == (std::uint64_t{1} << pes) - 1);
  shmem_barrier_all();
  CHECK((shmem_uint64_atomic_fetch_xor(word, mine, 0) & mine) == mine);
  shmem_barrier_all();
  CHECK(shmem_uint64_atomic_fetch(word, 0) == 0);
  shmem_free(word);
}

}  // namespace

int main() {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  sums_are_exact(me, pes);
  tickets_are_unique(me, pes);
  a_lock_of_compare_and_swap_excludes(pes);
  bits(me, pes);
  finish();
}
