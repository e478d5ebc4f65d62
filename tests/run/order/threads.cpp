// SHMEM_THREAD_MULTIPLE: the threads of all PEs transfer, update, signal, wait and run collectives at once.
//
// Each test gives each thread its own part, so that every value can be predicted; sharing is intended: the default
// context, a serialized context, tickets, sums, the heap of teams.
#include <algorithm>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr int threads = 4;

// Calls work(thread number) in `threads` threads, and returns when all have returned.
void in_threads(const std::function<void(int)>& work) {
  std::vector<std::jthread> running;
  running.reserve(threads);
  for (int t = 0; t < threads; ++t) running.emplace_back([&work, t] { work(t); });
}

long value_of(const ring& r, int pe, int thread, int round, int i) {
  return ((round * r.pes + pe) * threads + thread) * 100'000L + i;
}

// Blocks to and from the next PE, over one context per thread or over the default context for all.
void blocks_of_threads_do_not_mix(const ring& r, bool own_contexts) {
  constexpr int words = 300, rounds = 20;
  auto* const there = symmetric<long>(std::size_t{threads} * words);
  in_threads([&](int t) {
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (own_contexts) CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    long* const mine = there + static_cast<std::ptrdiff_t>(t) * words;
    std::vector<long> block(words), back(words), odd(words / 2);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < words; ++i) block[static_cast<std::size_t>(i)] = value_of(r, r.me, t, round, i);
      switch (round % 4) {
        case 0:
          shmem_ctx_long_put(ctx, mine, block.data(), words, r.next);
          break;
        case 1:
          shmem_ctx_long_put_nbi(ctx, mine, block.data(), words, r.next);
          break;
        case 2:
          for (int i = 0; i < words; ++i) shmem_ctx_long_p(ctx, mine + i, block[static_cast<std::size_t>(i)], r.next);
          break;
        default:
          shmem_ctx_long_iput(ctx, mine, block.data(), 2, 2, words / 2, r.next);
          shmem_ctx_long_iput(ctx, mine + 1, block.data() + 1, 2, 2, words / 2, r.next);
      }
      shmem_ctx_quiet(ctx);
      shmem_ctx_long_get_nbi(ctx, back.data(), mine, words, r.next);
      shmem_ctx_long_iget(ctx, odd.data(), mine + 1, 1, 2, words / 2, r.next);
      shmem_ctx_quiet(ctx);
      CHECK(back == block);
      for (std::size_t i = 0; i < odd.size(); ++i) CHECK(odd[i] == block[2 * i + 1]);
      CHECK(shmem_ctx_long_g(ctx, mine + round, r.next) == block[static_cast<std::size_t>(round)]);
    }
    if (own_contexts) shmem_ctx_destroy(ctx);
  });
  shmem_barrier_all();
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < words; ++i) CHECK(there[t * words + i] == value_of(r, r.before, t, rounds - 1, i));
  shmem_barrier_all();
  shmem_free(there);
}

// A serialized context may pass from thread to thread as long as only one uses it at a time.
void a_serialized_context_goes_from_thread_to_thread(const ring& r) {
  constexpr int times = 50;
  auto* const there = symmetric<long>(std::size_t{threads} * times);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
  std::mutex turn;
  in_threads([&](int t) {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard hold(turn);
      shmem_ctx_long_p(ctx, there + t * times + i, value_of(r, r.me, t, 0, i), r.next);
      if (i % 7 == 0) shmem_ctx_fence(ctx);
      if (i % 11 == 0) shmem_ctx_quiet(ctx);
    }
  });
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < times; ++i) CHECK(there[t * times + i] == value_of(r, r.before, t, 0, i));
  shmem_barrier_all();
  shmem_free(there);
}

void tickets_of_all_threads_are_unique(const ring& r) {
  constexpr int times = 100;
  const int all = r.pes * threads * times;
  auto* const ticket = symmetric<long>(2);
  auto* const taken = symmetric<int>(2 * static_cast<std::size_t>(all));
  in_threads([&](int) {
    std::vector<long> later(times);
    for (int i = 0; i < times; ++i) {
      shmem_int_atomic_inc(taken + shmem_long_atomic_fetch_inc(ticket, 0), 0);
      shmem_long_atomic_fetch_add_nbi(&later[static_cast<std::size_t>(i)], ticket + 1, 1, 0);
    }
    shmem_quiet();
    for (const long one : later) shmem_int_atomic_inc(taken + all + one, 0);
  });
  shmem_barrier_all();
  if (r.me == 0) CHECK(std::all_of(taken, taken + 2 * all, [](int times_taken) { return times_taken == 1; }));
  shmem_barrier_all();
  shmem_free(taken);
  shmem_free(ticket);
}

void accumulates_of_all_threads_add_up(const ring& r) {
  constexpr int words = 64, times = 25;
  auto* const sums = symmetric<double>(words);
  in_threads([&](int t) {
    const std::vector<double> ones(words, 1.0);
    const double factor = t + 1;
    for (int i = 0; i < times; ++i)
      for (int pe = 0; pe < r.pes; ++pe) shmemx_double_accumulate(sums, ones.data(), words, &factor, pe);
    shmem_quiet();
  });
  shmem_barrier_all();
  const double expected = times * r.pes * (threads * (threads + 1) / 2);
  CHECK(std::all_of(sums, sums + words, [&](double sum) { return sum == expected; }));
  shmem_barrier_all();
  shmem_free(sums);
}

// Thread t of each PE passes a token to thread t of the next, preceded by a block of data.
void each_thread_waits_for_its_own_signal(const ring& r) {
  constexpr int words = 40, laps = 30;
  auto* const data = symmetric<long>(std::size_t{threads} * words);
  auto* const signal = symmetric<std::uint64_t>(threads);
  in_threads([&](int t) {
    long* const mine = data + static_cast<std::ptrdiff_t>(t) * words;
    std::vector<long> block(words);
    for (int lap = 1; lap <= laps; ++lap) {
      const auto number = static_cast<std::uint64_t>(lap);
      if (r.me != 0) {
        CHECK(shmem_signal_wait_until(signal + t, SHMEM_CMP_GE, number) == number);
        CHECK(mine[0] == lap && mine[words - 1] == lap);
      }
      std::fill(block.begin(), block.end(), lap);
      if (lap % 2 == 0)
        shmem_long_put_signal(mine, block.data(), words, signal + t, number, SHMEM_SIGNAL_SET, r.next);
      else
        shmem_long_put_signal_nbi(mine, block.data(), words, signal + t, 1, SHMEM_SIGNAL_ADD, r.next);
      shmem_quiet();
      if (r.me == 0) shmem_signal_wait_until(signal + t, SHMEM_CMP_EQ, number);
    }
  });
  shmem_barrier_all();
  shmem_free(signal);
  shmem_free(data);
}

// Threads of one PE wait for each other through its own memory, by wait, by test, and by wait for any of several.
void threads_of_a_pe_wait_for_each_other(const ring& r) {
  constexpr int laps = 100;
  auto* const lap_of = symmetric<int>(threads);
  in_threads([&](int t) {
    for (int lap = 1; lap <= laps; ++lap) {
      shmem_int_atomic_set(lap_of + t, lap, r.me);
      const int other = (t + 1) % threads;
      switch (lap % 3) {
        case 0:
          shmem_int_wait_until(lap_of + other, SHMEM_CMP_GE, lap);
          break;
        case 1:
          while (shmem_int_test(lap_of + other, SHMEM_CMP_GE, lap) == 0) std::this_thread::yield();
          break;
        default:
          shmem_int_wait_until_all(lap_of, threads, nullptr, SHMEM_CMP_GE, lap - 1);
          CHECK(shmem_int_wait_until_any(lap_of, threads, nullptr, SHMEM_CMP_GE, lap) < threads);
      }
    }
  });
  CHECK(std::all_of(lap_of, lap_of + threads, [](int lap) { return lap == laps; }));
  shmem_barrier_all();
  shmem_free(lap_of);
}

// One team per thread, of all PEs or of every second, in which the threads run collectives at once and at their own
// pace.
void teams_of_threads_act_at_once(const ring& r) {
  constexpr std::size_t words = 3000;  // more than one message of a reduction between nodes
  constexpr int rounds = 12;
  std::vector<shmem_team_t> teams(threads);
  for (int t = 0; t < threads; ++t) {
    const int stride = t % 2 == 0 ? 1 : 2;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, stride, (r.pes + stride - 1) / stride, nullptr, 0,
                             &teams[static_cast<std::size_t>(t)]);
  }
  const auto pes = static_cast<std::size_t>(r.pes);
  auto* const source = symmetric<long>(threads * words);
  auto* const target = symmetric<long>(threads * words * pes);
  in_threads([&](int t) {
    const auto index = static_cast<std::size_t>(t);
    const shmem_team_t team = teams[index];
    if (team == SHMEM_TEAM_INVALID) return;
    const int me = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    long *const from = source + index * words, *const to = target + index * words * pes;
    for (int round = 0; round < rounds; ++round) {
      const std::size_t n = round % 2 == 0 ? words : 2 * pes;
      for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<long>(i) + round + me;
      CHECK(shmem_team_sync(team) == 0);
      const auto sum = [&](std::size_t i) {
        return size * (static_cast<long>(i) + round) + static_cast<long>(size) * (size - 1) / 2;
      };
      switch (round % 6) {
        case 0:
        case 1:
          CHECK(shmem_long_sum_reduce(team, to, from, n) == 0);
          for (std::size_t i = 0; i < n; ++i) CHECK(to[i] == sum(i));
          break;
        case 2:
        case 3:
          CHECK(shmem_long_fcollect(team, to, from, n) == 0);
          for (int pe = 0; pe < size; ++pe) CHECK(to[static_cast<std::size_t>(pe) * n] == round + pe);
          break;
        case 4:
          CHECK(shmem_long_broadcast(team, to, from, n, size - 1) == 0);
          CHECK(to[n - 1] == static_cast<long>(n) - 1 + round + size - 1);
          break;
        default:
          CHECK(shmem_long_alltoall(team, to, from, 1) == 0);
          for (int pe = 0; pe < size; ++pe) CHECK(to[pe] == me + round + pe);
      }
    }
  });
  shmem_barrier_all();
  shmem_free(target);
  shmem_free(source);
  for (const shmem_team_t team : teams) shmem_team_destroy(team);
}

// All threads make and destroy teams, and contexts of teams, at once, each thread with its own parent.
void threads_split_their_teams_at_once(const ring& r) {
  constexpr int rounds = 8;
  std::vector<shmem_team_t> parents(threads);
  for (auto& parent : parents) CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, r.pes, nullptr, 0, &parent) == 0);
  auto* const cell = symmetric<long>(threads);
  in_threads([&](int t) {
    const shmem_team_t parent = parents[static_cast<std::size_t>(t)];
    for (int round = 0; round < rounds; ++round) {
      shmem_team_t reversed = SHMEM_TEAM_INVALID, row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
      CHECK(shmem_team_split_strided(parent, r.pes - 1, -1, r.pes, nullptr, 0, &reversed) == 0);
      CHECK(shmem_team_my_pe(reversed) == r.pes - 1 - r.me);
      CHECK(shmem_team_split_2d(parent, 2, nullptr, 0, &row, nullptr, 0, &column) == 0);
      CHECK(shmem_team_my_pe(row) == r.me % 2 && shmem_team_my_pe(column) == r.me / 2);
      shmem_ctx_t ctx = SHMEM_CTX_INVALID;
      CHECK(shmem_team_create_ctx(reversed, SHMEM_CTX_PRIVATE, &ctx) == 0);
      shmem_ctx_long_atomic_add(ctx, cell + t, 1, 0);  // the last PE in the world
      shmem_ctx_destroy(ctx);
      CHECK(shmem_team_sync(row) == 0 && shmem_team_sync(column) == 0 && shmem_team_sync(reversed) == 0);
      if (r.me == r.pes - 1) CHECK(shmem_long_atomic_fetch(cell + t, r.me) >= (round + 1L) * r.pes);
      shmem_team_destroy(column);
      shmem_team_destroy(reversed);
      shmem_team_destroy(row);
    }
  });
  shmem_barrier_all();
  for (int t = 0; t < threads; ++t) CHECK(cell[t] == (r.me == r.pes - 1 ? static_cast<long>(rounds) * r.pes : 0));
  for (const shmem_team_t parent : parents) shmem_team_destroy(parent);
  shmem_free(cell);
}

// One thread runs collectives of all PEs while the others transfer.
void transfers_go_on_during_barriers(const ring& r) {
  constexpr int rounds = 40;
  auto* const count = symmetric<long>(threads);
  in_threads([&](int t) {
    for (int round = 0; round < rounds; ++round) {
      if (t == 0)
        shmem_barrier_all();
      else
        shmem_long_atomic_inc(count + t, (r.me + round) % r.pes);
    }
  });
  shmem_barrier_all();
  long sum = 0;
  for (int t = 1; t < threads; ++t)
    for (int pe = 0; pe < r.pes; ++pe) sum += shmem_long_g(count + t, pe);
  CHECK(sum == static_cast<long>(rounds) * (threads - 1) * r.pes);
  shmem_barrier_all();
  shmem_free(count);
}

}  // namespace

int main() {
  int provided = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
  const ring r;
  blocks_of_threads_do_not_mix(r, false);
  blocks_of_threads_do_not_mix(r, true);
  a_serialized_context_goes_from_thread_to_thread(r);
  tickets_of_all_threads_are_unique(r);
  accumulates_of_all_threads_add_up(r);
  each_thread_waits_for_its_own_signal(r);
  threads_of_a_pe_wait_for_each_other(r);
  teams_of_threads_act_at_once(r);
  threads_split_their_teams_at_once(r);
  transfers_go_on_during_barriers(r);
  finish();
}
