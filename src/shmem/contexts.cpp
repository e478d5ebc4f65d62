// Communication contexts: streams of operations with an ordering and a quiet of their own.
#include "shmem/current.hpp"
#include "shmemx.h"

using lull::shmem::here;

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  *ctx = SHMEM_CTX_INVALID;
  if (!lull::shmem::team_of(here("shmem_team_create_ctx"), team)) return 1;
  auto made = std::make_unique<lull_context>();
  made->team = team;
  made->options = options;
  *ctx = made.release();  // the handle owns it until shmem_ctx_destroy
  if (team != SHMEM_TEAM_WORLD && team != SHMEM_TEAM_SHARED) team->add(*ctx);
  return 0;
}

int shmem_ctx_create(long options, shmem_ctx_t* ctx) { return shmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx); }

void shmem_ctx_destroy(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
  const std::unique_ptr<lull_context> owner(ctx);
  here("shmem_ctx_destroy").quiet(ctx->traffic);
  if (ctx->team != SHMEM_TEAM_WORLD && ctx->team != SHMEM_TEAM_SHARED) ctx->team->remove(ctx);
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : ctx->team;
  return 0;
}
