// Ordering, and the barriers of all PEs.
#include "shmem/current.hpp"

using lull::shmem::here;
using lull::wait::operation;

void shmem_fence() {
  auto& world = here("shmem_fence");
  world.transfers().fence(world.transfers().default_context());
}

void shmem_quiet() {
  auto& world = here("shmem_quiet", operation::quiet);
  world.transfers().quiet(world.transfers().default_context());
}

void shmem_ctx_fence(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT) return shmem_fence();
  auto& world = here("shmem_ctx_fence");
  lull::shmem::examine_thread(world, "shmem_ctx_fence", ctx);
  world.transfers().fence(ctx->traffic);
}

void shmem_ctx_quiet(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT) return shmem_quiet();
  auto& world = here("shmem_ctx_quiet", operation::quiet);
  lull::shmem::examine_thread(world, "shmem_ctx_quiet", ctx);
  world.transfers().quiet(ctx->traffic);
}

void shmem_sync_all() { here("shmem_sync_all", operation::barrier).everybody().sync(); }

void shmem_barrier_all() {
  auto& world = here("shmem_barrier_all", operation::barrier);
  world.transfers().quiet(world.transfers().default_context());
  world.everybody().sync();
}

int shmem_team_sync(shmem_team_t team) {
  auto& members = lull::shmem::team_for("shmem_team_sync", team);
  here("shmem_team_sync", operation::barrier);
  members.sync();
  return 0;
}
