// A session of a context changes neither order nor completion, whichever operations it contains; a batch coalesces puts
// and atomics without answer to other nodes, also where the runtime would not by itself.
#include <algorithm>
#include <vector>

#include "check.hpp"

namespace {

constexpr shmem_ctx_session_config_t of(std::size_t ops) { return {.total_ops = ops}; }

// Random updates of a table, which all PEs have: every one arrives once.
void updates_arrive_once(const ring& r, shmem_ctx_t ctx) {
  constexpr std::size_t cells = 64;
  auto* const table = symmetric<std::uint64_t>(cells);
  auto* const narrow = symmetric<std::uint32_t>(cells);
  std::uint64_t random = static_cast<std::uint64_t>(r.me) + 1;
  const auto config = of(3000);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
  for (int i = 0; i < 1000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const int pe = static_cast<int>(random >> 33U) % r.pes;
    const std::size_t cell = random >> 50U;
    shmem_ctx_uint64_atomic_add(ctx, table + cell % cells, 1, pe);
    shmem_ctx_uint32_atomic_inc(ctx, narrow + cell % cells, pe);
    shmem_ctx_uint64_atomic_xor(ctx, table, std::uint64_t{1} << 40U, pe);
  }
  shmem_ctx_session_stop(ctx);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  auto* const sums = symmetric<std::uint64_t>(2);
  for (std::size_t i = 0; i < cells; ++i) {
    sums[0] += table[i] & 0xFFFF'FFFFU;
    sums[1] += narrow[i];
  }
  shmem_barrier_all();
  auto* const all = symmetric<std::uint64_t>(2);
  CHECK(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, sums, 2) == 0);
  CHECK(all[0] == 1000U * static_cast<unsigned>(r.pes) && all[1] == all[0]);
  for (auto* const memory :
       {static_cast<void*>(all), static_cast<void*>(sums), static_cast<void*>(narrow), static_cast<void*>(table)})
    shmem_free(memory);
}

// Puts and atomics to neighbouring places in turn, of which each sees the one before behind a fence; other operations
// between them send what has been coalesced.
void order_is_kept(const ring& r, shmem_ctx_t ctx) {
  auto* const area = symmetric<long>(4);
  auto* const flag = symmetric<std::uint64_t>(1);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  for (long round = 1; round <= 200; ++round) {
    shmem_ctx_long_p(ctx, area, round, r.next);
    shmem_ctx_long_p(ctx, area + 1, round, r.next);
    shmem_ctx_long_atomic_add(ctx, area + 2, 1, r.next);
    shmem_ctx_long_p(ctx, area + 3, round, r.next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_atomic_add(ctx, area, 1, r.next);
    if (round % 3 == 0) shmem_ctx_fence(ctx), shmem_ctx_long_p(ctx, area, round + 1, r.next);
    if (round % 5 == 0) CHECK(shmem_ctx_long_atomic_fetch(ctx, area + 2, r.next) == round);
    shmem_ctx_fence(ctx);
    shmem_ctx_signal_set(ctx, flag, static_cast<std::uint64_t>(round), r.next);
    shmem_signal_wait_until(flag, SHMEM_CMP_GE, static_cast<std::uint64_t>(round));
    CHECK(area[0] == round + 1 && area[1] == round && area[2] == round && area[3] == round);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
  }
  shmem_ctx_session_stop(ctx);
  shmem_free(flag);
  shmem_free(area);
}

// The number of coalesced puts in a loop of n, one after another, each of which ends a run.
std::uint64_t coalesced_of(const ring& r, shmem_ctx_t ctx, long* area, int n) {
  shmemx_transform_stats_t before, after;
  shmemx_transform_stats(&before);
  for (int i = 0; i < n; ++i) {
    shmem_ctx_long_p(ctx, area, i, r.next);
    shmem_ctx_quiet(ctx);
  }
  shmemx_transform_stats(&after);
  return after.coalesced_puts - before.coalesced_puts;
}

// A batch has an effect while it lasts, unless the program expects too few operations for one; restarts combine.
void a_batch_coalesces(const ring& r, shmem_ctx_t ctx) {
  auto* const area = symmetric<long>(1);
  const bool away = shmemx_node_of(r.next) != shmemx_node_of(r.me);
  const auto all = [&](int n) { return away ? static_cast<std::uint64_t>(n) : 0; };
  const auto few = of(1), many = of(1000);
  CHECK(shmemx_ctx_set_transform(ctx, "auto") == 0);
  CHECK(coalesced_of(r, ctx, area, 200) <= all(200));  // until the runtime has learnt that it does not pay
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  CHECK(coalesced_of(r, ctx, area, 100) == all(100));
  shmem_ctx_session_start(ctx, 0, &few, SHMEM_CTX_SESSION_TOTAL_OPS);
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  shmem_ctx_session_start(ctx, 0, &few, 0);  // masked: the number stays
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  shmem_ctx_session_start(ctx, 0, &many, SHMEM_CTX_SESSION_TOTAL_OPS);
  CHECK(coalesced_of(r, ctx, area, 100) == all(100));
  shmem_ctx_session_stop(ctx);
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  shmem_ctx_session_stop(ctx);  // without effect
  shmem_ctx_session_start(ctx, 0, nullptr, 0);
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  CHECK(shmemx_ctx_set_transform(ctx, "off") == 0);  // the program's choice has precedence over a hint
  CHECK(coalesced_of(r, ctx, area, 100) == 0);
  CHECK(shmemx_ctx_set_transform(ctx, nullptr) == 0);
  shmem_ctx_session_stop(ctx);
  shmem_barrier_all();
  shmem_free(area);
}

// What a batch has delayed leaves when it stops: no PE calls the library afterwards.
void a_stop_sends(const ring& r, shmem_ctx_t ctx) {
  auto* const cells = symmetric<long>(2);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_ctx_long_p(ctx, cells, 1, r.next);
  shmem_ctx_long_atomic_inc(ctx, cells + 1, r.next);
  shmem_ctx_session_stop(ctx);
  shmem_long_wait_until(cells, SHMEM_CMP_EQ, 1);
  shmem_long_wait_until(cells + 1, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  shmem_free(cells);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t own = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) == 0);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
  for (const shmem_ctx_t ctx : {SHMEM_CTX_DEFAULT, own}) {
    updates_arrive_once(r, ctx);
    order_is_kept(r, ctx);
    a_batch_coalesces(r, ctx);
    a_stop_sends(r, ctx);
  }
  shmem_ctx_session_start(own, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_ctx_long_atomic_inc(own, symmetric<long>(1), r.next);
  shmem_ctx_destroy(own);  // completes, and ends the session
  finish();
}
