// Programs with one mistake each, selected by the argument: LULL_CHECK=1 must end the job with a line about it. A
// program that runs to its end was not detected.
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

struct place {
  ring r;
  long* area = symmetric<long>(64);
};

// Uses a private context in a thread that did not make it.
template <class Use>
void by_another_thread(const Use& use) {
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
  std::thread([&] { use(ctx); }).join();
}

using mistake = void (*)(const place&);
struct named {
  std::string_view name;
  mistake make;
};

constexpr std::array mistakes{
    named{"pe_too_large", [](const place& p) { shmem_long_p(p.area, 1, p.r.pes); }},
    named{"pe_negative", [](const place& p) { shmem_long_atomic_inc(p.area, -1); }},
    named{"pe_outside_the_team",
          [](const place& p) {
            shmem_team_t team = SHMEM_TEAM_INVALID;
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, p.r.pes - 1, nullptr, 0, &team);
            if (team == SHMEM_TEAM_INVALID) return shmem_barrier_all();
            shmem_ctx_t ctx = SHMEM_CTX_INVALID;
            shmem_team_create_ctx(team, 0, &ctx);
            shmem_ctx_long_p(ctx, p.area, 1, p.r.pes - 1);
          }},
    named{"not_symmetric",
          [](const place& p) {
            long on_the_stack = 0;
            shmem_long_p(&on_the_stack, 1, p.r.next);
          }},
    named{"stray_store",  // into the memory of the PE that was mapped last: the one mapped before it is its neighbour
          [](const place& p) {
            long on_the_stack = 0;
            if (p.r.me == 0) shmem_long_p(&on_the_stack, 1, p.r.before);
            shmem_barrier_all();
          }},
    named{"beyond_the_end",
          [](const place& p) {
            std::array<char, 4096> mine{};
            shmem_putmem(p.area, mine.data(), std::size_t{1} << 40U, p.r.next);
          }},
    named{"overlap", [](const place& p) { shmem_long_put(p.area + 1, p.area, 4, p.r.me); }},
    named{"overlap_in_a_collective",
          [](const place& p) { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, p.area + 1, p.area, 4); }},
    named{"collective_not_symmetric",
          [](const place& p) {
            std::array<long, 64> local{};
            shmem_long_alltoall(SHMEM_TEAM_WORLD, local.data(), p.area, 1);
          }},
    named{"signal_operation",
          [](const place& p) {
            static std::uint64_t signal;
            const long one = 1;
            shmem_long_put_signal(p.area, &one, 1, &signal, 1, 77, p.r.next);
          }},
    named{"blocks_that_overlap", [](const place& p) { shmem_long_ibput(p.area, p.area + 32, 4, 3, 4, 2, p.r.next); }},
    named{"session_options", [](const place&) { shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 6, nullptr, 0); }},
    named{"session_without_config",
          [](const place&) {
            shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, nullptr, SHMEM_CTX_SESSION_TOTAL_OPS);
          }},
    named{"private_context_session",
          [](const place&) { by_another_thread([](shmem_ctx_t ctx) { shmem_ctx_session_stop(ctx); }); }},
    named{"quiet_of_no_pe",
          [](const place& p) {
            const int targets[] = {p.r.next, p.r.pes};
            shmem_pe_quiet(targets, 2);
          }},
    named{"signal_not_symmetric",
          [](const place& p) {
            std::uint64_t on_the_stack = 0;
            shmem_signal_add(&on_the_stack, 1, p.r.next);
          }},
    named{"other_scans",
          [](const place& p) {
            if (p.r.me == p.r.pes - 1)
              shmem_long_sum_inscan(SHMEM_TEAM_WORLD, p.area, p.area + 8, 1);
            else
              shmem_long_sum_exscan(SHMEM_TEAM_WORLD, p.area, p.area + 8, 1);
          }},
    named{"wrong_root", [](const place& p) { shmem_long_broadcast(SHMEM_TEAM_WORLD, p.area, p.area + 8, 1, p.r.pes); }},
    named{"invalid_context", [](const place& p) { shmem_ctx_long_p(SHMEM_CTX_INVALID, p.area, 1, 0); }},
    named{"invalid_team", [](const place&) { shmem_team_sync(SHMEM_TEAM_INVALID); }},
    named{"private_context_put",
          [](const place& p) {
            by_another_thread([&](shmem_ctx_t ctx) { shmem_ctx_long_p(ctx, p.area, 1, p.r.next); });
          }},
    named{"private_context_quiet", [](const place&) { by_another_thread(shmem_ctx_quiet); }},
    named{"private_context_fence", [](const place&) { by_another_thread(shmem_ctx_fence); }},
    named{"private_context_destroy", [](const place&) { by_another_thread(shmem_ctx_destroy); }},
    named{"context_options",
          [](const place&) {
            shmem_ctx_t ctx = SHMEM_CTX_INVALID;
            shmem_ctx_create(SHMEM_CTX_PRIVATE | 64, &ctx);
          }},
    named{"free_of_something_else", [](const place& p) { shmem_free(p.area + 1); }},
    named{"alignment_no_power_of_two", [](const place&) { shmem_align(24, 8); }},
    named{"alignment_zero", [](const place&) { shmem_align(0, 8); }},
    named{"alignment_too_large", [](const place&) { shmem_align(std::size_t{1} << 40U, 8); }},
    named{"other_roots",
          [](const place& p) {
            shmem_long_broadcast(SHMEM_TEAM_WORLD, p.area, p.area + 8, 1, p.r.me == p.r.pes - 1 ? 1 : 0);
          }},
    named{"other_counts",
          [](const place& p) {
            shmem_long_sum_reduce(SHMEM_TEAM_WORLD, p.area, p.area + 8, p.r.me == p.r.pes - 1 ? 2 : 3);
          }},
    named{"other_calls",
          [](const place& p) {
            if (p.r.me == p.r.pes - 1)
              shmem_barrier_all();
            else
              shmem_long_fcollect(SHMEM_TEAM_WORLD, p.area, p.area + 32, 1);
          }},
    named{"other_sizes_in_the_heap",
          [](const place& p) { shmem_free(shmem_malloc(p.r.me == p.r.pes - 1 ? 65'536 : 131'072)); }},
    named{"killed_while_put_to",  // when a few puts have arrived
          [](const place& p) {
            constexpr std::size_t bytes = std::size_t{1} << 20U;
            auto* const area = symmetric<unsigned char>(bytes);
            std::vector<unsigned char> data(bytes);
            const volatile unsigned char& arrived = area[bytes - 1];
            while (p.r.me == 1) {
              if (arrived >= 20) raise(SIGKILL);
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            for (;; ++data.back()) {
              if (p.r.me == 0) shmem_putmem(area, data.data(), bytes, 1), shmem_quiet();
            }
          }},
    named{"after_finalize",
          [](const place&) {
            shmem_finalize();
            shmem_barrier_all();
          }},
};

}  // namespace

int main(int, char** arguments) {
  const std::string_view asked = arguments[1] ? arguments[1] : "";
  if (asked == "before_init") return shmem_my_pe();
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, nullptr);
  const place p;
  for (const auto& [name, make] : mistakes)
    if (name == asked) make(p);
  if (asked == "global_exit") {
    if (p.r.me == p.r.pes - 1) shmem_global_exit(37);
    shmem_barrier_all();
  }
  shmem_barrier_all();
  shmem_finalize();
}
