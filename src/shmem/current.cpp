#include "shmem/current.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/counted.hpp"

namespace lull::shmem {

fabric::world* current_world = nullptr;

void not_initialised(const char* call) {
  std::fprintf(stderr, "lull: %s was called before shmem_init or after shmem_finalize\n", call);
  std::_Exit(1);
}

void mistake(const char* call, const std::string& found) {
  std::fprintf(stderr, "lull: PE %d: %s: %s\n", current_world->me().index(), call, found.c_str());
  std::_Exit(1);
}

void examine_thread(const fabric::world& w, const char* call, shmem_ctx_t ctx) {
  if (w.checks() && ctx->only_thread && *ctx->only_thread != std::this_thread::get_id())
    mistake(call,
            "the context is private (SHMEM_CTX_PRIVATE) to the thread that created it, but another thread uses it");
}

void examine_pe(const fabric::world& w, const char* call, int pe) {
  if (pe < 0 || pe >= w.pes())
    mistake(call, "there is no PE " + std::to_string(pe) + "; PEs are 0 to " + std::to_string(w.pes() - 1));
}

void examine_pe(const fabric::team& t, const char* call, int pe) {
  if (pe < 0 || pe >= t.size())
    mistake(call, "there is no PE " + std::to_string(pe) + " in the context's team of " + std::to_string(t.size()));
}

void examine_range(const fabric::symmetric_memory& memory, const char* call, const char* what, const void* symmetric,
                   std::size_t bytes) {
  if (bytes != 0 && !memory.is_symmetric(symmetric, bytes))
    mistake(call, std::string(what) + " with its " + counted(bytes, "byte") + " is not in symmetric memory");
}

void examine_overlap(const char* call, const void* dest, std::size_t dest_bytes, const void* source,
                     std::size_t source_bytes) {
  const auto to = reinterpret_cast<std::uintptr_t>(dest), from = reinterpret_cast<std::uintptr_t>(source);
  if (dest_bytes != 0 && source_bytes != 0 && to != from && to < from + source_bytes && from < to + dest_bytes)
    mistake(call, "dest with its " + counted(dest_bytes, "byte") + " and source with its " +
                      std::to_string(source_bytes) + " overlap");
}

void watch(fabric::world& w, const char* call, shmem_ctx_t ctx, const transfer& t, int pe) {
  if (w.checks()) {
    if (ctx == SHMEM_CTX_DEFAULT) examine_pe(w, call, pe);
    examine_range(w.memory(), call, "the remote address", t.begin, t.range);
  }
  if (w.wait().statistics_on()) w.wait().count(t.what, t.bytes);
}

stream through_context(const char* call, shmem_ctx_t ctx, int pe) {
  fabric::world& world = here(call);
  if (ctx == SHMEM_CTX_INVALID) mistake(call, "the context is SHMEM_CTX_INVALID");
  examine_thread(world, call, ctx);
  const fabric::team& team = *team_of(world, ctx->team);
  if (world.checks()) examine_pe(team, call, pe);
  return {world, ctx->traffic, team.pe(pe)};
}

open_handles& handles() {
  static open_handles all;
  return all;
}

void open_handles::free_all() {
  const std::lock_guard hold(lock_);
  session_of_default_context = {};
  std::vector<shmem_ctx_t> contexts = std::exchange(contexts_, {});
  const std::vector<shmem_team_t> teams = std::exchange(teams_, {});
  for (const shmem_team_t team : teams) {
    const auto its = team->take_contexts();
    contexts.insert(contexts.end(), its.begin(), its.end());
    const std::unique_ptr<lull_team> owner(team);
  }
  for (const shmem_ctx_t ctx : contexts) const std::unique_ptr<lull_context> owner(ctx);
}

fabric::team& team_for(const char* call, shmem_team_t team) {
  fabric::team* const found = team_of(here(call), team);
  if (!found) mistake(call, "the team is SHMEM_TEAM_INVALID");
  return *found;
}

}  // namespace lull::shmem
