// A put with a signal: a PE that sees the signal sees the data, whatever their size and type, and added signals sum up.
// Signals without data, too.
#include <algorithm>
#include <vector>

#include "check.hpp"

namespace {

#define WITH_SIGNAL(NAME, TYPE, PUT)                                                          \
  {                                                                                           \
    auto* const area = symmetric<TYPE>(8);                                                    \
    TYPE mine[4][8];                                                                          \
    for (int k = 0; k < 4; ++k) std::fill_n(mine[k], 8, make<TYPE>(r.me + k));                \
    const auto arrived = [&](std::uint64_t value, int k) {                                    \
      CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, value) == value);                   \
      const TYPE right = make<TYPE>(r.before + k);                                            \
      CHECK(std::all_of(area, area + 8, [&](const TYPE& x) { return x == right; }));          \
      shmem_barrier_all();                                                                    \
    };                                                                                        \
    shmem_##PUT##_signal(area, mine[0], 8, signal, 5, SHMEM_SIGNAL_SET, r.next);              \
    arrived(5, 0);                                                                            \
    shmem_##PUT##_signal_nbi(area, mine[1], 8, signal, 3, SHMEM_SIGNAL_ADD, r.next);          \
    arrived(8, 1);                                                                            \
    shmem_ctx_##PUT##_signal(ctx, area, mine[2], 8, signal, 4, SHMEM_SIGNAL_ADD, r.next);     \
    arrived(12, 2);                                                                           \
    shmem_ctx_##PUT##_signal_nbi(ctx, area, mine[3], 8, signal, 1, SHMEM_SIGNAL_SET, r.next); \
    arrived(1, 3);                                                                            \
    CHECK(shmem_signal_fetch(signal) == 1);                                                   \
    shmem_barrier_all();                                                                      \
    shmem_free(area);                                                                         \
  }
#define ONE_TYPE(NAME, TYPE, A) WITH_SIGNAL(NAME, TYPE, NAME##_put)

template <class T>
T make(int number) {
  return static_cast<T>(number);
}

struct wide {
  std::uint64_t low, high;
  bool operator==(const wide&) const = default;
};
template <>
wide make<wide>(int number) {
  return {static_cast<std::uint64_t>(number), ~static_cast<std::uint64_t>(number)};
}

void every_type_and_size(const ring& r, shmem_ctx_t ctx, std::uint64_t* signal) {
  LULL_RMA_TYPES(ONE_TYPE, )
  WITH_SIGNAL(, std::uint8_t, put8)
  WITH_SIGNAL(, std::uint16_t, put16)
  WITH_SIGNAL(, std::uint32_t, put32)
  WITH_SIGNAL(, std::uint64_t, put64)
  WITH_SIGNAL(, wide, put128)
  WITH_SIGNAL(, unsigned char, putmem)
}

// From no data to more than is sent eagerly; each round waits for one more signal.
void every_length(const ring& r, std::uint64_t* signal) {
  constexpr std::size_t most = (std::size_t{1} << 20) + 4096;
  auto* const area = symmetric<unsigned char>(most);
  std::vector<unsigned char> mine(most);
  *signal = 0;
  shmem_barrier_all();
  std::uint64_t round = 0;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{511}, std::size_t{513}, std::size_t{100'000}, most}) {
    ++round;
    std::fill(mine.begin(), mine.end(), static_cast<unsigned char>(r.me + static_cast<int>(round)));
    shmem_putmem_signal_nbi(area, mine.data(), bytes, signal, 1, SHMEM_SIGNAL_ADD, r.next);
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, round);
    const auto right = static_cast<unsigned char>(r.before + static_cast<int>(round));
    CHECK(std::all_of(area, area + bytes, [&](unsigned char c) { return c == right; }));
    shmem_barrier_all();  // before mine is reused
  }
  shmem_free(area);
}

// All PEs signal PE 0, each with its own block: when the sum is complete, all blocks are there.
void signals_of_all_add_up(const ring& r, std::uint64_t* signal) {
  constexpr int rounds = 20;
  auto* const blocks = symmetric<long>(static_cast<std::size_t>(r.pes) * 100);
  *signal = 0;
  shmem_barrier_all();
  std::vector<long> mine(100);
  for (int round = 1; round <= rounds; ++round) {
    std::fill(mine.begin(), mine.end(), r.me * 1000L + round);
    shmem_long_put_signal(blocks + r.me * 100, mine.data(), 100, signal, 1, SHMEM_SIGNAL_ADD, 0);
    if (r.me == 0) {
      shmem_signal_wait_until(signal, SHMEM_CMP_EQ, static_cast<std::uint64_t>(round * r.pes));
      for (int pe = 0; pe < r.pes; ++pe)
        for (int i = 0; i < 100; ++i) CHECK(blocks[pe * 100 + i] == pe * 1000L + round);
    }
    shmem_barrier_all();
  }
  shmem_free(blocks);
}

// Signals without data, set and added by every PE, by the default and another context. What was put before is not
// ordered with them, unless a fence is between.
void signals_without_data(const ring& r, shmem_ctx_t ctx, std::uint64_t* signal) {
  auto* const area = symmetric<long>(1);
  *signal = 0;
  shmem_barrier_all();
  for (int round = 1; round <= 50; ++round) {
    const auto number = static_cast<std::uint64_t>(round);
    shmem_long_p(area, round * 100 + r.me, r.next);
    shmem_fence();
    shmem_signal_set(signal, number << 32, r.next);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, number << 32) >> 32 == number);
    CHECK(*area == round * 100 + r.before);
    shmem_barrier_all();
    for (int pe = 0; pe < r.pes; ++pe) {
      shmem_signal_add(signal, 1, pe);
      shmem_ctx_signal_add(ctx, signal, 2, pe);
    }
    const std::uint64_t all = (number << 32) + 3 * static_cast<std::uint64_t>(r.pes);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, all) == all);
    CHECK(shmem_signal_fetch(signal) == all);
    shmem_barrier_all();
    shmem_ctx_signal_set(ctx, signal, all + 1, r.next);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_NE, all) == all + 1);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
  }
  shmem_free(area);
}

// The PE of a signal is a number in the context's team.
void signals_in_a_team(const ring& r, std::uint64_t* signal) {
  shmem_team_t reversed = SHMEM_TEAM_INVALID;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &reversed) == 0);
  CHECK(shmem_team_create_ctx(reversed, 0, &ctx) == 0);
  *signal = 0;
  shmem_barrier_all();
  shmem_ctx_signal_set(ctx, signal, 100 + static_cast<std::uint64_t>(r.me), r.me);
  const auto sender = static_cast<std::uint64_t>(r.pes - 1 - r.me);
  CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_NE, 0) == 100 + sender);
  shmem_barrier_all();
  shmem_team_destroy(reversed);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  auto* const signal = symmetric<std::uint64_t>(1);
  every_type_and_size(r, ctx, signal);
  every_length(r, signal);
  signals_of_all_add_up(r, signal);
  signals_without_data(r, ctx, signal);
  signals_in_a_team(r, signal);
  shmem_free(signal);
  shmem_ctx_destroy(ctx);
  finish();
}
