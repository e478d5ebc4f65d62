// What every OpenSHMEM function begins with: the world of this process, and what the handles stand for.
//
// The world exists between shmem_init() and shmem_finalize(). It is the only global of the runtime, because the
// interface has no handle to carry it. With LULL_CHECK=1 arguments are examined here, where the name of the call is
// known.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/team.hpp"
#include "fabric/world.hpp"
#include "shmem.h"

struct lull_team {
  lull_team(std::unique_ptr<lull::fabric::team> t, const shmem_team_config_t& c) : team(std::move(t)), config(c) {}
  std::unique_ptr<lull::fabric::team> team;
  shmem_team_config_t config;

  // Of the contexts made from it and not yet destroyed; threads make and destroy theirs at any time.
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

// The options of a context are promises of the program; none makes anything quicker here. LULL_CHECK holds it to
// SHMEM_CTX_PRIVATE. Whatever the options, threads may share a context, and its quiet and fence hold for stores too.
struct lull_context {
  lull::fabric::context traffic;
  shmem_team_t team;                           // whose numbering of PEs it uses
  std::optional<std::thread::id> only_thread;  // that may use it, when it is private
};

namespace lull::shmem {

extern fabric::world* current_world;

[[noreturn]] void not_initialised(const char* call);

inline fabric::world& here(const char* call) {
  if (!current_world) [[unlikely]]
    not_initialised(call);
  return *current_world;
}

// LULL_CHECK: ends the job with a line that names the call.
[[noreturn]] void mistake(const char* call, const std::string& found);
void examine_thread(const fabric::world& w, const char* call, shmem_ctx_t ctx);  // of a context that was made
void examine_pe(const fabric::world& w, const char* call, int pe);
void examine_range(const fabric::symmetric_memory& memory, const char* call, const char* what, const void* symmetric,
                   std::size_t bytes);
// The same address for both is allowed.
void examine_overlap(const char* call, const void* dest, std::size_t dest_bytes, const void* source,
                     std::size_t source_bytes);

// A call that moves no data of its own, for the statistics.
inline fabric::world& here(const char* call, wait::operation what, std::size_t bytes = 0) {
  fabric::world& world = here(call);
  if (world.watched() && world.wait().statistics_on()) [[unlikely]]
    world.wait().count(what, bytes);
  return world;
}

// A transfer's way: through which context, to which PE of the job.
struct stream {
  fabric::world& world;
  fabric::context& context;
  pe_id pe;
};
stream through_context(const char* call, shmem_ctx_t ctx, int pe);  // for contexts other than the default

// What a call wants to do with the other PE's memory.
struct transfer {
  wait::operation what;
  const void* begin;  // a symmetric address
  std::size_t range;  // bytes from the first to behind the last that it touches
  std::size_t bytes;  // that it moves
};
inline transfer blocks_at(wait::operation what, const void* at, const fabric::block_descriptor& s) {
  const auto [low, high] = s.reach();
  return {what, static_cast<const std::byte*>(at) + low, static_cast<std::size_t>(high - low), s.bytes()};
}
void watch(fabric::world& w, const char* call, shmem_ctx_t ctx, const transfer& t, int pe);

// The way to the PE that is number `pe` in the context's team.
inline stream through(const char* call, shmem_ctx_t ctx, const transfer& t, int pe) {
  fabric::world& world = here(call);
  if (world.watched()) [[unlikely]]
    watch(world, call, ctx, t, pe);
  if (ctx == SHMEM_CTX_DEFAULT) [[likely]]
    return {world, world.transfers().default_context(), pe_id{pe}};
  return through_context(call, ctx, pe);
}

// What most calls find: the default context, nobody who looks at the call. Null otherwise, and before shmem_init.
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
void destroy(shmem_ctx_t ctx);  // completes what is under way; of any thread, as when its team is destroyed
fabric::team& team_for(const char* call, shmem_team_t team);  // of a collective call: ends the job for an invalid one

}  // namespace lull::shmem
