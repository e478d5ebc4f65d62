// Ordering, and the barriers of all PEs.
#include <vector>

#include "shmem/current.hpp"

using lull::pe_id;
using lull::fabric::context;
using lull::fabric::world;
using lull::shmem::here;
using lull::wait::operation;

namespace {

void quiet(const char* call, world& w, context& c, const lull::fabric::team& numbering, const int* target_pes,
           size_t npes) {
  if (npes == 0) return;
  std::vector<pe_id> targets;
  targets.reserve(npes);
  for (size_t i = 0; i < npes; ++i) {
    if (w.checks()) lull::shmem::examine_pe(numbering, call, target_pes[i]);
    targets.push_back(numbering.pe(target_pes[i]));
  }
  w.transfers().quiet(c, targets);
}

}  // namespace

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

void shmem_pe_quiet(const int* target_pes, size_t npes) {
  auto& world = here("shmem_pe_quiet", operation::quiet);
  quiet("shmem_pe_quiet", world, world.transfers().default_context(), world.everybody(), target_pes, npes);
}

void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* target_pes, size_t npes) {
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT) return shmem_pe_quiet(target_pes, npes);
  auto& world = here("shmem_ctx_pe_quiet", operation::quiet);
  lull::shmem::examine_thread(world, "shmem_ctx_pe_quiet", ctx);
  quiet("shmem_ctx_pe_quiet", world, ctx->traffic, *lull::shmem::team_of(world, ctx->team), target_pes, npes);
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
