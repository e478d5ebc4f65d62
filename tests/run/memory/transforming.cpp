// Puts that the runtime rewrites: however they travel, they are ordered and complete according to OpenSHMEM, they
// arrive even if no PE calls the library any more, and their sources may be reused.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::array ways{"off", "on", "auto"};

// Every kind of put and atomic in turn, to one place: the last one stays, and a flag implies that the data is there.
void kinds_of_operations_keep_their_order(const ring& r, shmem_ctx_t ctx) {
  constexpr std::size_t count = 2000;
  auto* const area = symmetric<long>(count);
  auto* const cell = symmetric<long>(1);
  auto* const flag = symmetric<uint64_t>(1);
  std::vector<long> mine(count);
  for (long round = 1; round <= 40; ++round) {
    std::fill(mine.begin(), mine.end(), round);
    const std::size_t some = static_cast<std::size_t>(round) * 37 % count + 1;
    for (std::size_t i = 0; i < some; ++i) shmem_ctx_long_p(ctx, area + i, mine[i], r.next);
    shmem_ctx_long_put(ctx, area + some, mine.data(), count - some, r.next);
    shmem_ctx_long_p(ctx, cell, -round, r.next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_atomic_add(ctx, cell, 2 * round, r.next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_put_nbi(ctx, area, mine.data(), 1, r.next);
    shmem_ctx_long_put_signal(ctx, area + 1, mine.data(), 1, flag, static_cast<uint64_t>(round), SHMEM_SIGNAL_SET,
                              r.next);
    CHECK(shmem_signal_wait_until(flag, SHMEM_CMP_GE, static_cast<uint64_t>(round)) >= static_cast<uint64_t>(round));
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(*cell == round);
    CHECK(std::all_of(area, area + count, [&](long x) { return x == round; }));
    shmem_barrier_all();
  }
  shmem_free(flag);
  shmem_free(cell);
  shmem_free(area);
}

// A source may be written again as soon as a blocking put returns, whatever its size.
void sources_may_be_reused(const ring& r, shmem_ctx_t ctx) {
  constexpr std::size_t most = 100'000, puts = 60;
  auto* const area = symmetric<unsigned char>(most * 2);
  std::vector<unsigned char> mine(most);
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{7}, std::size_t{600}, std::size_t{5000}, std::size_t{40'000}, most}) {
    const std::size_t places = std::min(puts, most * 2 / bytes);
    for (std::size_t i = 0; i < places; ++i) {
      std::memset(mine.data(), static_cast<int>(i + 1), bytes);
      shmem_ctx_putmem(ctx, area + i * bytes, mine.data(), bytes, r.next);
      std::memset(mine.data(), 0xEE, bytes);
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (std::size_t i = 0; i < places; ++i)
      CHECK(std::all_of(area + i * bytes, area + (i + 1) * bytes, [&](unsigned char x) { return x == i + 1; }));
    shmem_barrier_all();
  }
  shmem_free(area);
}

// Two PEs answer each other by flags, each behind a fence; neither waits in the library while it polls.
void flags_are_answered(const ring& r, shmem_ctx_t ctx) {
  auto* const flag = symmetric<long>(1);
  auto* const data = symmetric<long>(64);
  const std::atomic_ref<long> here(*flag);
  for (long round = 1; round <= 20; ++round) {
    for (int i = 0; i < 64; ++i) shmem_ctx_long_p(ctx, data + i, round, r.next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, flag, round, r.next);
    if (round % 2 == 0)
      while (shmem_long_test(flag, SHMEM_CMP_GE, round) == 0) {
      }
    else
      shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
    CHECK(here.load(std::memory_order_acquire) >= round);
    CHECK(std::all_of(data, data + 64, [&](long x) { return x >= round; }));
    shmem_barrier_all();
  }
  shmem_free(data);
  shmem_free(flag);
}

// After the put neither the sender nor the receiver calls the library: it still arrives.
void a_put_that_is_left_lying_arrives(const ring& r, shmem_ctx_t ctx) {
  auto* const flag = symmetric<long>(1);
  const std::atomic_ref<long> here(*flag);
  for (long round = 1; round <= 5; ++round) {
    shmem_ctx_long_p(ctx, flag, round, r.next);
    while (here.load(std::memory_order_acquire) < round) {
    }
    shmem_barrier_all();
  }
  shmem_free(flag);
}

void what_was_rewritten_is_counted(const ring& r, shmem_ctx_t ctx) {
  auto* const area = symmetric<long>(1000);
  const bool away = shmemx_node_of(r.next) != shmemx_node_of(r.me);
  for (const char* const how : {"off", "on"}) {
    CHECK(shmemx_ctx_set_transform(ctx, how) == 0);
    shmemx_transform_stats_t before, after;
    shmemx_transform_stats(&before);
    for (int i = 0; i < 1000; ++i) shmem_ctx_long_p(ctx, area + i, i, r.next);
    shmem_ctx_quiet(ctx);
    shmemx_transform_stats(&after);
    const bool coalesces = away && std::strcmp(how, "on") == 0;
    CHECK(after.coalesced_puts - before.coalesced_puts == (coalesces ? 1000U : 0U));
    CHECK(after.coalesced_bytes - before.coalesced_bytes == (coalesces ? 8000U : 0U));
    CHECK((after.messages - before.messages != 0) == coalesces && after.messages - before.messages <= 1000);
  }
  shmem_barrier_all();
  shmem_free(area);
}

void unknown_names_are_refused(shmem_ctx_t ctx) {
  CHECK(shmemx_ctx_set_transform(ctx, "sometimes") != 0);
  CHECK(shmemx_ctx_set_transform(SHMEM_CTX_INVALID, "on") != 0);
  CHECK(shmemx_ctx_set_transform(ctx, nullptr) == 0);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t own = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &own) == 0);
  for (const shmem_ctx_t ctx : {SHMEM_CTX_DEFAULT, own}) {
    for (const char* const how : ways) {
      CHECK(shmemx_ctx_set_transform(ctx, how) == 0);
      kinds_of_operations_keep_their_order(r, ctx);
      sources_may_be_reused(r, ctx);
      flags_are_answered(r, ctx);
      a_put_that_is_left_lying_arrives(r, ctx);
    }
    what_was_rewritten_is_counted(r, ctx);
    unknown_names_are_refused(ctx);
  }
  shmem_ctx_destroy(own);
  finish();
}
