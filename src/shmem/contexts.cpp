// Communication contexts: streams of operations, each with its own ordering and quiet; and their sessions.
#include <memory>
#include <mutex>
#include <string>

#include "model/machine/machine_file.hpp"
#include "shmem/current.hpp"
#include "shmemx.h"

using lull::shmem::here;
using lull::shmem::session;

namespace {

int create(const char* call, shmem_team_t team, long options, shmem_ctx_t* ctx) {
  constexpr long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  *ctx = SHMEM_CTX_INVALID;
  auto& world = here(call);
  if (!lull::shmem::team_of(world, team)) return 1;
  if (world.checks() && (options & ~known) != 0)
    lull::shmem::mistake(call, "the options " + std::to_string(options) +
                                   " contain more than SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE");
  auto made = std::make_unique<lull_context>();
  made->team = team;
  if ((options & SHMEM_CTX_PRIVATE) != 0) made->only_thread = std::this_thread::get_id();
  *ctx = made.release();  // the handle owns it until shmem_ctx_destroy
  if (team != SHMEM_TEAM_WORLD && team != SHMEM_TEAM_SHARED)
    team->add(*ctx);
  else
    lull::shmem::handles().add(*ctx);
  return 0;
}

// A batch is worthwhile from as many operations on as a run of puts whose coalescing pays.
bool is_batch(const session& s) {
  return (s.options & SHMEM_CTX_SESSION_BATCH) != 0 &&
         static_cast<double>(s.total_ops) >= lull::model::this_machine().transforming.fewest_in_a_run_to_begin;
}

std::mutex sessions;  // threads may start and stop those of one context

session& session_of(shmem_ctx_t ctx) {
  return ctx == SHMEM_CTX_DEFAULT ? lull::shmem::handles().session_of_default_context : ctx->announced;
}
lull::fabric::context& traffic_of(lull::fabric::world& world, shmem_ctx_t ctx) {
  return ctx == SHMEM_CTX_DEFAULT ? world.transfers().default_context() : ctx->traffic;
}

}  // namespace

void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,
                             long config_mask) {
  constexpr const char* call = "shmem_ctx_session_start";
  auto& world = here(call);
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx != SHMEM_CTX_DEFAULT) lull::shmem::examine_thread(world, call, ctx);
  if (world.checks() && (options & ~static_cast<long>(SHMEM_CTX_SESSION_BATCH)) != 0)
    lull::shmem::mistake(call, "the options " + std::to_string(options) + " contain more than SHMEM_CTX_SESSION_BATCH");
  if (world.checks() && config_mask != 0 && !config)
    lull::shmem::mistake(call, "config_mask is " + std::to_string(config_mask) + ", but config is NULL");
  const std::lock_guard hold(sessions);
  session& its = session_of(ctx);
  its.options |= options;
  if (config && (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS) != 0) its.total_ops = config->total_ops;
  traffic_of(world, ctx).batch = is_batch(its);
}

void shmem_ctx_session_stop(shmem_ctx_t ctx) {
  constexpr const char* call = "shmem_ctx_session_stop";
  auto& world = here(call);
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx != SHMEM_CTX_DEFAULT) lull::shmem::examine_thread(world, call, ctx);
  const std::lock_guard hold(sessions);
  session_of(ctx) = {};
  if (traffic_of(world, ctx).batch.exchange(false)) world.transfers().send_coalesced();
}

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  return create("shmem_team_create_ctx", team, options, ctx);
}
int shmem_ctx_create(long options, shmem_ctx_t* ctx) {
  return create("shmem_ctx_create", SHMEM_TEAM_WORLD, options, ctx);
}

void shmem_ctx_destroy(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
  lull::shmem::examine_thread(here("shmem_ctx_destroy"), "shmem_ctx_destroy", ctx);
  lull::shmem::destroy(ctx);
}

void lull::shmem::destroy(shmem_ctx_t ctx) {
  const std::unique_ptr<lull_context> owner(ctx);
  current_world->transfers().quiet(ctx->traffic);
  if (ctx->team != SHMEM_TEAM_WORLD && ctx->team != SHMEM_TEAM_SHARED)
    ctx->team->remove(ctx);
  else
    handles().remove(ctx);
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : ctx->team;
  return 0;
}
