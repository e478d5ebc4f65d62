// Contexts order and complete their own operations, number PEs as their team does, and end with it.
#include <vector>

#include "check.hpp"

namespace {

constexpr long kinds[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE,
                          SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};

void every_kind_carries_and_completes(const ring& r) {
  auto* const area = symmetric<long>(std::size(kinds));
  std::size_t at = 0;
  for (const long kind : kinds) {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(shmem_ctx_create(kind, &ctx) == 0 && ctx != SHMEM_CTX_INVALID);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK(shmem_ctx_get_team(ctx, &team) == 0 && team == SHMEM_TEAM_WORLD);
    const long mine = r.me + kind;
    shmem_ctx_long_put_nbi(ctx, area + at, &mine, 1, r.next);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_long_g(area + at, r.next) == mine);
    shmem_ctx_destroy(ctx);
    ++at;
  }
  shmem_barrier_all();
  shmem_free(area);
}

// Data and flag through the same context, with a fence: a PE that sees the flag sees the data.
void a_fence_orders_its_own_context(const ring& r) {
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  auto* const data = symmetric<long>(64);
  auto* const flag = symmetric<long>(1);
  long mine[64];
  for (long round = 1; round <= 50; ++round) {
    for (long& x : mine) x = round;
    shmem_ctx_long_put_nbi(ctx, data, mine, 64, r.next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, flag, round, r.next);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
    for (int i = 0; i < 64; ++i) CHECK(data[i] == round);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
  }
  shmem_free(flag);
  shmem_free(data);
  shmem_ctx_destroy(ctx);
}

void many_contexts_go_on_side_by_side(const ring& r) {
  constexpr std::size_t many = 40;
  std::vector<shmem_ctx_t> contexts(many, SHMEM_CTX_INVALID);
  auto* const area = symmetric<long>(many);
  for (shmem_ctx_t& ctx : contexts) CHECK(shmem_ctx_create(0, &ctx) == 0);
  std::vector<long> mine(many);
  for (std::size_t i = 0; i < many; ++i) {
    mine[i] = static_cast<long>(i) + r.me;
    shmem_ctx_long_put_nbi(contexts[i], area + i, &mine[i], 1, r.next);
  }
  for (std::size_t i = many; i-- > 0;) {
    shmem_ctx_quiet(contexts[i]);
    CHECK(shmem_long_g(area + i, r.next) == mine[i]);
  }
  for (const shmem_ctx_t ctx : contexts) shmem_ctx_destroy(ctx);
  for (int i = 0; i < 2000; ++i) {  // made and destroyed repeatedly, with outstanding operations
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    if (i % 10 == 0) shmem_ctx_long_put_nbi(ctx, area, mine.data(), 1, r.next);
    shmem_ctx_destroy(ctx);
  }
  shmem_barrier_all();
  shmem_free(area);
}

void a_context_of_a_team_uses_its_numbers(const ring& r) {
  shmem_team_t odd = SHMEM_TEAM_INVALID;
  auto* const word = symmetric<long>(2);
  *word = r.me;
  shmem_barrier_all();
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &odd) == 0);  // in reverse
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_team_create_ctx(odd, 0, &ctx) == 0);
  shmem_team_t whose = SHMEM_TEAM_INVALID;
  CHECK(shmem_ctx_get_team(ctx, &whose) == 0 && whose == odd);
  for (int i = 0; i < r.pes; ++i) CHECK(shmem_ctx_long_g(ctx, word, i) == r.pes - 1 - i);
  for (int i = 0; i < r.pes; ++i) shmem_ctx_long_atomic_add(ctx, word + 1, i + 1, i);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  CHECK(word[1] == r.pes * (shmem_team_my_pe(odd) + 1L));
  shmem_team_destroy(odd);  // and the context with it
  shmem_free(word);
}

void invalid_ones_are_refused() {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
  CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_fence(SHMEM_CTX_INVALID);
}

void each_waits_as_it_is_told(const ring& r) {
  auto* const word = symmetric<long>(1);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  for (const char* const policy : {"poll", "interrupt"}) {
    CHECK(shmemx_ctx_set_wait(ctx, policy) == 0);
    shmem_ctx_long_p(ctx, word, r.me, r.next);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_ctx_long_g(ctx, word, r.next) == r.me);
  }
  CHECK(shmemx_ctx_set_wait(ctx, "patiently") != 0);
  CHECK(shmemx_ctx_set_wait(SHMEM_CTX_INVALID, "poll") != 0);
  CHECK(shmemx_ctx_set_wait(ctx, nullptr) == 0);
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  shmem_free(word);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  every_kind_carries_and_completes(r);
  a_fence_orders_its_own_context(r);
  many_contexts_go_on_side_by_side(r);
  a_context_of_a_team_uses_its_numbers(r);
  invalid_ones_are_refused();
  each_waits_as_it_is_told(r);
  finish();
}
