// The world of this process, with which every OpenSHMEM function begins, and the objects behind the handles.
//
// The world exists between shmem_init() and shmem_finalize(). It is the only global variable of the runtime, because
// the interface has no handle for it. With LULL_CHECK=1 the functions here check arguments, since they know the name of
// the call.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/teams/team.hpp"
#include "fabric/world.hpp"
#include "shmem.h"

struct lull_team {
  lull_team(std::unique_ptr<lull::fabric::team> t, const shmem_team_config_t& c) : team(std::move(t)), config(c) {}
  std::unique_ptr<lull::fabric::team> team;
  shmem_team_config_t config;

  // The contexts that were made from this team and not destroyed. Threads make and destroy contexts at any time.
  void add(shmem_ctx_t ctx) {
    const std::lock_guard hold(lock_);
    contexts_.push_back(ctx);
  }
  void remove(shmem_ctx_t ctx) {
    const std::lock_guard hold(lock_);
    std::erase(contexts_, ctx);
  }
  [[nodiscard]] std::vector<shmem_ctx_t> take_contexts() {
    const std::lock_guard hold(lock_);
    return std::exchange(contexts_, {});
  }

 private:
  std::mutex lock_;
  std::vector<shmem_ctx_t> contexts_;
};

namespace lull::shmem {

// What the program has announced for the operations of a context.
struct session {
  long options = 0;
  std::size_t total_ops = SIZE_MAX;
};

}  // namespace lull::shmem

// The options of a context are promises of the program. This runtime gains no speed from them; LULL_CHECK checks
// SHMEM_CTX_PRIVATE. With any options threads may share a context, and its quiet and fence order stores, too.
struct lull_context {
  lull::fabric::context traffic;
  shmem_team_t team;                           // whose PE numbers it uses
  std::optional<std::thread::id> only_thread;  // the thread that may use a private context
  lull::shmem::session announced{};
};

namespace lull::shmem {

extern fabric::world* current_world;

[[noreturn]] void not_initialised(const char* call);

inline fabric::world& here(const char* call) {
  if (!current_world) [[unlikely]]
    not_initialised(call);
  return *current_world;
}

// Ends the job with a line that names the call. The examine functions call it; they are called under LULL_CHECK only.
[[noreturn]] void mistake(const char* call, const std::string& found);
void examine_thread(const fabric::world& w, const char* call, shmem_ctx_t ctx);  // not for the default context
void examine_pe(const fabric::world& w, const char* call, int pe);
void examine_pe(const fabric::team& t, const char* call, int pe);  // by its number in the team of a context
void examine_range(const fabric::symmetric_memory& memory, const char* call, const char* what, const void* symmetric,
                   std::size_t bytes);
// The two ranges may not overlap, except that both may be the same.
void examine_overlap(const char* call, const void* dest, std::size_t dest_bytes, const void* source,
                     std::size_t source_bytes);

// here() for a call that moves no data itself; counts it in the statistics.
inline fabric::world& here(const char* call, wait::operation what, std::size_t bytes = 0) {
  fabric::world& world = here(call);
  if (world.watched() && world.wait().statistics_on()) [[unlikely]]
    world.wait().count(what, bytes);
  return world;
}

// The path of a transfer: its context, and its PE in the job.
struct stream {
  fabric::world& world;
  fabric::context& context;
  pe_id pe;
};
stream through_context(const char* call, shmem_ctx_t ctx, int pe);  // for contexts other than the default

// The access of a call to another PE's memory.
struct transfer {
  wait::operation what;
  const void* begin;  // a symmetric address
  std::size_t range;  // bytes between the first and the end of the last that it touches
  std::size_t bytes;  // bytes that it moves
};
inline transfer blocks_at(wait::operation what, const void* at, const fabric::block_descriptor& s) {
  const auto [low, high] = s.reach();
  return {what, static_cast<const std::byte*>(at) + low, static_cast<std::size_t>(high - low), s.bytes()};
}
void watch(fabric::world& w, const char* call, shmem_ctx_t ctx, const transfer& t, int pe);

// The path to PE number `pe` of the context's team. Checks and counts the call where that is on.
inline stream through(const char* call, shmem_ctx_t ctx, const transfer& t, int pe) {
  fabric::world& world = here(call);
  if (world.watched()) [[unlikely]]
    watch(world, call, ctx, t, pe);
  if (ctx == SHMEM_CTX_DEFAULT) [[likely]]
    return {world, world.transfers().default_context(), pe_id{pe}};
  return through_context(call, ctx, pe);
}

// The fast path of most calls: the world, if the context is the default one and calls are neither checked nor counted.
// Null otherwise, and before shmem_init().
inline fabric::world* plainly(shmem_ctx_t ctx) {
  fabric::world* const world = current_world;
  return world && !world->watched() && ctx == SHMEM_CTX_DEFAULT ? world : nullptr;
}

// Null for SHMEM_TEAM_INVALID.
inline fabric::team* team_of(fabric::world& world, shmem_team_t team) {
  if (team == SHMEM_TEAM_WORLD) return &world.everybody();
  if (team == SHMEM_TEAM_SHARED) return &world.node_team();
  return team == SHMEM_TEAM_INVALID ? nullptr : team->team.get();
}
// The handles of contexts that belong to no team made by the program, and of teams, which the last shmem_finalize
// destroys if the program has not. Any thread may call.
class open_handles {
 public:
  void add(shmem_ctx_t ctx) { add(contexts_, ctx); }
  void add(shmem_team_t team) { add(teams_, team); }
  void remove(shmem_ctx_t ctx) { remove(contexts_, ctx); }
  void remove(shmem_team_t team) { remove(teams_, team); }
  // When all their operations are complete and no thread uses them any more.
  void free_all();
  session session_of_default_context;

 private:
  template <class Handle>
  void add(std::vector<Handle>& handles, Handle one) {
    const std::lock_guard hold(lock_);
    handles.push_back(one);
  }
  template <class Handle>
  void remove(std::vector<Handle>& handles, Handle one) {
    const std::lock_guard hold(lock_);
    std::erase(handles, one);
  }
  std::mutex lock_;
  std::vector<shmem_ctx_t> contexts_;
  std::vector<shmem_team_t> teams_;
};
open_handles& handles();  // of current_world

void destroy(shmem_ctx_t ctx);  // completes its operations; any thread may call it, as when its team is destroyed
fabric::team& team_for(const char* call, shmem_team_t team);  // for collective calls; ends the job if it is invalid

}  // namespace lull::shmem
