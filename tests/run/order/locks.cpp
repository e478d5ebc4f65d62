// Locks exclude other PEs, however many locks and PEs there are; what was written under a lock is seen by its next
// holder.
#include <algorithm>
#include <vector>

#include "check.hpp"

namespace {

long static_lock;

// Not atomic on purpose: only the lock makes the sum correct.
void one_lock_for_all(const ring& r) {
  auto* const counter = symmetric<long>(2);
  constexpr int rounds = 40;
  for (int i = 0; i < rounds; ++i) {
    shmem_set_lock(&static_lock);
    const long seen = shmem_long_g(counter, 0);
    shmem_long_p(counter, seen + 1, 0);
    const long another = shmem_long_g(counter + 1, r.pes - 1) + 1;
    shmem_long_put_nbi(counter + 1, &another, 1, r.pes - 1);
    shmem_quiet();
    shmem_clear_lock(&static_lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(counter, 0) == static_cast<long>(rounds) * r.pes);
  CHECK(shmem_long_g(counter + 1, r.pes - 1) == static_cast<long>(rounds) * r.pes);
  shmem_barrier_all();
  shmem_free(counter);
}

// Clearing completes earlier puts, without a quiet of the program.
void clearing_publishes(const ring& r) {
  auto* const cells = symmetric<long>(1);
  for (int i = 0; i < 20; ++i) {
    shmem_set_lock(&static_lock);
    const long now = shmem_long_g(cells, 0) + 1;
    shmem_long_put_nbi(cells, &now, 1, 0);
    shmem_clear_lock(&static_lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(cells, 0) == 20L * r.pes);
  shmem_barrier_all();
  shmem_free(cells);
}

void many_locks_at_once(const ring& r) {
  constexpr std::size_t many = 32;
  auto* const locks = symmetric<long>(many);
  auto* const counters = symmetric<long>(many);
  for (std::size_t i = 0; i < 4 * many; ++i) {
    const std::size_t a = (i * 7 + static_cast<std::size_t>(r.me) * 5) % many, b = (a + 9) % many;
    shmem_set_lock(locks + std::min(a, b));  // in ascending order, so that no cycle can wait
    shmem_set_lock(locks + std::max(a, b));
    for (const std::size_t k : {a, b}) shmem_long_p(counters + k, shmem_long_g(counters + k, 0) + 1, 0);
    shmem_clear_lock(locks + std::min(a, b));
    shmem_clear_lock(locks + std::max(a, b));
  }
  shmem_barrier_all();
  long sum = 0;
  for (std::size_t k = 0; k < many; ++k) sum += shmem_long_g(counters + k, 0);
  CHECK(sum == 8L * static_cast<long>(many) * r.pes);
  shmem_barrier_all();
  for (std::size_t k = 0; k < many; ++k) CHECK(locks[k] == 0);  // as initially: they may be freed or used otherwise
  shmem_free(counters);
  shmem_free(locks);
}

void a_test_takes_a_free_lock_only(const ring& r) {
  auto* const lock = symmetric<long>(1);
  auto* const counter = symmetric<long>(1);
  if (r.me == 0) CHECK(shmem_test_lock(lock) == 0);
  shmem_barrier_all();
  CHECK(shmem_test_lock(lock) != 0);  // held by PE 0 itself
  shmem_barrier_all();
  if (r.me == 0) shmem_clear_lock(lock);
  shmem_barrier_all();
  for (int i = 0; i < 10; ++i) {
    if (i % 2 == 0) {
      while (shmem_test_lock(lock) != 0) {
      }
    } else {
      shmem_set_lock(lock);
    }
    shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
    shmem_clear_lock(lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(counter, 0) == 10L * r.pes);
  shmem_barrier_all();
  shmem_free(counter);
  shmem_free(lock);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  one_lock_for_all(r);
  clearing_publishes(r);
  many_locks_at_once(r);
  a_test_takes_a_free_lock_only(r);
  finish();
}
