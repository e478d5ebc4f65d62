// Communication contexts: streams of operations, each with its own ordering and quiet.
#include <memory>
#include <string>

#include "shmem/current.hpp"
#include "shmemx.h"

using lull::shmem::here;

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
  if (team != SHMEM_TEAM_WORLD && team != SHMEM_TEAM_SHARED) team->add(*ctx);
  return 0;
}

}  // namespace

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
  if (ctx->team != SHMEM_TEAM_WORLD && ctx->team != SHMEM_TEAM_SHARED) ctx->team->remove(ctx);
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : ctx->team;
  return 0;
}
