// fence and quiet: a flag never overtakes its data, whatever their size and path.
#include <algorithm>
#include <atomic>
#include <vector>

#include "check.hpp"

namespace {

enum class way { put, put_nbi, strided, element_by_element, atomics };

// Data in the given form, a fence, then a flag: the receiver reads the data as soon as it sees the flag.
void flags_come_after_data(const ring& r) {
  constexpr std::size_t most = 300'000;  // longs: beyond what is sent eagerly between nodes
  auto* const area = symmetric<long>(most);
  auto* const flag = symmetric<long>(1);
  std::vector<long> mine(most);
  long round = 0;
  const auto exchange = [&](way how, std::size_t count) {
    ++round;
    std::fill_n(mine.begin(), count, round * 100 + r.me);
    switch (how) {
      case way::put:
        shmem_long_put(area, mine.data(), count, r.next);
        break;
      case way::put_nbi:
        shmem_long_put_nbi(area, mine.data(), count, r.next);
        break;
      case way::strided:
        shmem_long_iput(area, mine.data(), 2, 1, count / 2, r.next);
        shmem_long_iput(area + 1, mine.data(), 2, 1, count - count / 2 - count % 2, r.next);
        if (count % 2 != 0) shmem_long_p(area + count - 1, mine[0], r.next);
        break;
      case way::element_by_element:
        for (std::size_t i = 0; i < count; ++i) shmem_long_put_nbi(area + i, &mine[i], 1, r.next);
        break;
      case way::atomics:
        for (std::size_t i = 0; i < count; ++i) shmem_long_atomic_set(area + i, mine[i], r.next);
        break;
    }
    shmem_fence();
    shmem_long_atomic_set(flag, round, r.next);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
    const long right = round * 100 + r.before;
    CHECK(std::all_of(area, area + count, [&](long x) { return x == right; }));
    shmem_barrier_all();
  };
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{65}, std::size_t{3000}})
      for (const way how : {way::put, way::put_nbi, way::strided, way::element_by_element, way::atomics})
        exchange(how, count);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const way how : {way::put, way::put_nbi, way::strided}) exchange(how, most);
  shmem_free(flag);
  shmem_free(area);
}

// After quiet the data is in place: a third PE, notified by other means, sees it.
void quiet_is_completion(const ring& r) {
  auto* const area = symmetric<long>(400);
  auto* const told = symmetric<long>(1);
  std::vector<long> mine(200);
  const int third = (r.me + 2) % r.pes;
  for (long round = 1; round <= 20; ++round) {
    std::fill(mine.begin(), mine.end(), round);
    for (std::size_t i = 0; i < 100; ++i) shmem_long_put_nbi(area + i, &mine[i], 1, r.next);
    shmem_long_put_nbi(area + 100, mine.data() + 100, 100, r.next);
    shmem_long_iput(area + 200, mine.data(), 2, 1, 100, r.next);
    shmem_quiet();
    shmem_long_p(told, round, third);  // whose previous neighbour is r.next
    shmem_long_wait_until(told, SHMEM_CMP_GE, round);
    std::vector<long> seen(400);
    shmem_long_get(seen.data(), area, 400, r.before);
    for (std::size_t i = 0; i < 200; ++i) CHECK(seen[i] == round && seen[200 + i / 2 * 2] == round);
    shmem_barrier_all();
  }
  shmem_free(told);
  shmem_free(area);
}

// The same for a quiet of some PEs: what was sent to them is in place, by the default and another context, whose numbers
// of PEs are those of its team.
void quiet_of_some_pes_is_completion(const ring& r) {
  constexpr std::size_t n = 2000;
  auto* const area = symmetric<long>(2 * n);
  auto* const cell = symmetric<long>(1);
  std::vector<long> mine(n), got(n);
  shmem_team_t reversed = SHMEM_TEAM_INVALID;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &reversed) == 0);
  CHECK(shmem_team_create_ctx(reversed, 0, &ctx) == 0);
  const int next_in_team = shmem_team_translate_pe(SHMEM_TEAM_WORLD, r.next, reversed);
  const int targets[] = {r.next, r.next, r.before}, team_targets[] = {next_in_team};
  const auto is_there = [&](std::size_t from, long value) {  // a get is not ordered with puts that are outstanding
    std::vector<long> seen(n);
    shmem_long_get(seen.data(), area + from, n, r.next);
    return std::all_of(seen.begin(), seen.end(), [&](long x) { return x == value; });
  };
  for (long round = 1; round <= 20; ++round) {
    std::fill(mine.begin(), mine.end(), round);
    for (int pe = 0; pe < r.pes; ++pe) shmem_long_atomic_inc(cell, pe);
    for (std::size_t i = 0; i < n / 2; ++i) shmem_long_p(area + i, round, r.next);
    shmem_long_put_nbi(area + n / 2, mine.data() + n / 2, n / 2, r.next);
    shmem_long_get_nbi(got.data(), area, n, r.before);
    shmem_pe_quiet(targets, 3);
    CHECK(is_there(0, round));
    shmem_ctx_long_iput(ctx, area + n, mine.data(), 2, 1, n / 2, next_in_team);
    shmem_ctx_long_iput(ctx, area + n + 1, mine.data(), 2, 1, n / 2, next_in_team);
    shmem_ctx_pe_quiet(ctx, team_targets, 1);
    CHECK(is_there(n, round));
    shmem_pe_quiet(nullptr, 0);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, team_targets, 1);
    shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, targets, 1);
    shmem_barrier_all();
    CHECK(*cell == round * r.pes);
    shmem_barrier_all();
  }
  shmem_team_destroy(reversed);
  shmem_free(cell);
  shmem_free(area);
}

// Puts of one PE to one place, separated by fences: the last one stays.
void the_last_put_wins(const ring& r) {
  auto* const cell = symmetric<long>(8);
  for (long round = 0; round < 100; ++round) {
    const long values[2] = {round, -round};
    shmem_long_put_nbi(cell, values, 1, r.next);
    shmem_fence();
    shmem_long_p(cell, round + 1, r.next);
    shmem_fence();
    shmem_long_atomic_add(cell, 1, r.next);
    shmem_fence();
    if (round % 2 == 0) shmem_long_put_nbi(cell, values + 1, 1, r.next);
    shmem_barrier_all();
    CHECK(*cell == (round % 2 == 0 ? -round : round + 2));
    shmem_barrier_all();
  }
  shmem_free(cell);
}

// Coalesced small puts leave by themselves after LULL_COALESCE_US: no PE calls fence or quiet.
void a_lonely_put_arrives(const ring& r) {
  auto* const flag = symmetric<long>(1);
  const long one = 1;
  shmem_long_put_nbi(flag, &one, 1, r.next);
  if (r.me == 0) {  // does not call the library in between
    const std::atomic_ref<long> here(*flag);
    while (here.load(std::memory_order_acquire) != 1) {
    }
  } else {
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
  }
  shmem_barrier_all();
  shmem_free(flag);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  flags_come_after_data(r);
  quiet_is_completion(r);
  quiet_of_some_pes_is_completion(r);
  the_last_put_wins(r);
  a_lonely_put_arrives(r);
  finish();
}
