// OpenSHMEM may be initialised several times: nested pairs of calls change nothing before the last finalize, and after
// it the program may begin anew, with an empty heap and the static variables as they were.
#include <cstdlib>
#include <cstring>

#include "check.hpp"

namespace {

long written_by_next, count_of_uses;

bool is_initialised() {
  int initialised = -1;
  shmem_query_initialized(&initialised);
  return initialised != 0;
}

// A library of the program, which needs not know whether its caller has initialised OpenSHMEM.
void library_call(int level) {
  int provided = -1;
  CHECK(shmem_init_thread(level, &provided) == 0 && provided >= level);
  shmem_long_atomic_inc(&count_of_uses, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_finalize();  // as a barrier, if the caller has initialised it, too
}

void nested_pairs(const ring& r) {
  auto* const kept = symmetric<long>(1);
  const long before = count_of_uses;
  shmem_barrier_all();
  for (int i = 0; i < 3; ++i) library_call(SHMEM_THREAD_SINGLE);
  CHECK(is_initialised() && count_of_uses == before + 3);
  shmem_barrier_all();  // all PEs have read it
  int provided = -1;
  shmem_query_thread(&provided);
  CHECK(provided == SHMEM_THREAD_SERIALIZED);
  library_call(SHMEM_THREAD_MULTIPLE);  // Lull can provide a higher level at any time
  shmem_query_thread(&provided);
  CHECK(provided == SHMEM_THREAD_MULTIPLE);
  shmem_long_p(kept, r.me + 1, r.next);
  shmem_init();
  shmem_finalize();  // completes the put
  CHECK(*kept == r.before + 1);
  shmem_free(kept);
}

// The program leaves teams, contexts and memory behind.
void leave_handles() {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_ctx_t of_world = SHMEM_CTX_INVALID, of_team = SHMEM_CTX_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team) == 0);
  CHECK(shmem_team_create_ctx(team, 0, &of_team) == 0 && shmem_ctx_create(0, &of_world) == 0);
  auto* const area = symmetric<long>(1000);
  for (int i = 0; i < 1000; ++i) {
    shmem_ctx_long_p(of_team, area + i, i, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_ctx_long_atomic_inc(of_world, area + i, shmem_my_pe());
  }
}

}  // namespace

// A PE whose heap has many pages ends its use of OpenSHMEM late: the others then wait for it in the next one.
void be_late() {
  constexpr std::size_t bytes = std::size_t{300} << 20U;
  auto* const area = static_cast<char*>(shmem_malloc(bytes));
  CHECK(area != nullptr);
  if (shmem_my_pe() == shmem_n_pes() - 1) std::memset(area, 1, bytes);
}

// An argument: how often the program uses OpenSHMEM, 1 unless given; more often needs a heap of 1G. On several hosts,
// PMIx may take a PE that still ends one use for one that has left the next (docs/reference/limits.md).
int main(int arguments, char** argument) {
  const long uses = arguments > 1 ? std::atol(argument[1]) : 1;
  if (is_initialised()) return 1;
  shmem_finalize();  // without effect
  for (long time = 1; time <= uses; ++time) {
    int provided = -1;
    if (shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided) != 0 || provided != SHMEM_THREAD_SERIALIZED) return 1;
    const ring r;
    CHECK(is_initialised());
    CHECK(time == 1 || written_by_next == (time - 1) * 100 + r.next);
    CHECK(*symmetric<long>(1 << 21) == 0);  // a quarter of the heap each time, never freed
    nested_pairs(r);
    shmem_long_p(&written_by_next, time * 100 + r.me, r.before);
    leave_handles();
    if (uses > 1) be_late();
    shmem_barrier_all();
    CHECK(written_by_next == time * 100 + r.next);
    finish();
    if (is_initialised()) return 1;
  }
  shmem_finalize();
}
