// Lull's extensions of OpenSHMEM: accumulate, strided and vector transfers, and queries of a PE about itself.
#include <cstring>
#include <string_view>

#include "shmem/current.hpp"
#include "shmemx.h"

using lull::pe_id;
using lull::fabric::axpy;
using lull::fabric::block_descriptor;
using lull::fabric::number;
using lull::shmem::blocks_at;
using lull::shmem::here;
using lull::shmem::stream;
using lull::shmem::through;
using lull::wait::operation;

namespace {

block_descriptor descriptor_of(const char* call, const std::ptrdiff_t strides[], const std::size_t counts[],
                               int levels) {
  here(call);
  if (levels < 0 || levels > block_descriptor::most_levels)
    lull::shmem::mistake(call, std::to_string(levels) + " levels; the allowed numbers are 0 to " +
                                   std::to_string(block_descriptor::most_levels));
  block_descriptor s{.levels = static_cast<std::uint32_t>(levels)};
  for (int level = 0; level <= levels; ++level) s.counts[static_cast<std::size_t>(level)] = counts[level];
  for (int level = 0; level < levels; ++level) s.strides[static_cast<std::size_t>(level)] = strides[level];
  return s;
}

template <class T>
void accumulate(const char* call, number type, T* dest, const block_descriptor& there, const T* source,
                const block_descriptor& here, const T* scale, int pe) {
  if (there.bytes() == 0) return;
  axpy how{type, {}};
  std::memcpy(how.factor.data(), scale, sizeof *scale);
  const stream to = through(call, SHMEM_CTX_DEFAULT, blocks_at(operation::accumulate, dest, there), pe);
  to.world.transfers().accumulate(to.context, dest, there, source, here, how, to.pe);
}

constexpr number int_ = number::int_, long_ = number::long_, float_ = number::float_, double_ = number::double_,
                 complexf_ = number::complex_float, complexd_ = number::complex_double;

}  // namespace

// clang-format off
#define LULL_ACCUMULATE(NAME, TYPE, A)                                                                               \
  void shmemx_##NAME##_accumulate(TYPE* dest, const TYPE* source, size_t nelems, const TYPE* scale, int pe) {        \
    block_descriptor block{};                                                                                                   \
    block.counts[0] = nelems * sizeof(TYPE);                                                                         \
    accumulate("shmemx_" #NAME "_accumulate", NAME##_, dest, block, source, block, scale, pe);                       \
  }                                                                                                                  \
  void shmemx_##NAME##_accumulate_strided(TYPE* dest, const ptrdiff_t dest_strides[], const TYPE* source,            \
                                          const ptrdiff_t source_strides[], const size_t counts[], int levels,       \
                                          const TYPE* scale, int pe) {                                               \
    constexpr const char* call = "shmemx_" #NAME "_accumulate_strided";                                              \
    accumulate(call, NAME##_, dest, descriptor_of(call, dest_strides, counts, levels), source,                            \
               descriptor_of(call, source_strides, counts, levels), scale, pe);                                           \
  }
LULL_ACCUMULATE_TYPES(LULL_ACCUMULATE, )
// clang-format on

void shmemx_put_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                        const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe) {
  constexpr const char* call = "shmemx_put_strided";
  const block_descriptor there = descriptor_of(call, dest_strides, counts, levels);
  if (there.bytes() == 0) return;
  const stream to = through(call, SHMEM_CTX_DEFAULT, blocks_at(operation::strided, dest, there), pe);
  to.world.transfers().put_strided(to.context, dest, there, source, descriptor_of(call, source_strides, counts, levels),
                                   to.pe);
}

void shmemx_get_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                        const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe) {
  constexpr const char* call = "shmemx_get_strided";
  const block_descriptor there = descriptor_of(call, source_strides, counts, levels);
  if (there.bytes() == 0) return;
  const stream from = through(call, SHMEM_CTX_DEFAULT, blocks_at(operation::strided, source, there), pe);
  from.world.transfers().get_strided(from.context, dest, descriptor_of(call, dest_strides, counts, levels), source,
                                     there, from.pe);
}

// The transfers coalesce small blocks.
void shmemx_put_vector(void* const dest[], const void* const source[], size_t nblocks, size_t bytes, int pe) {
  for (std::size_t i = 0; i < nblocks && bytes != 0; ++i) {
    const stream to = through("shmemx_put_vector", SHMEM_CTX_DEFAULT, {operation::put, dest[i], bytes, bytes}, pe);
    to.world.transfers().put(to.context, dest[i], source[i], bytes, to.pe, false);
  }
}

void shmemx_get_vector(void* const dest[], const void* const source[], size_t nblocks, size_t bytes, int pe) {
  lull::fabric::context traffic;
  for (std::size_t i = 0; i < nblocks && bytes != 0; ++i) {
    const stream from = through("shmemx_get_vector", SHMEM_CTX_DEFAULT, {operation::get, source[i], bytes, bytes}, pe);
    from.world.transfers().get_nbi(traffic, dest[i], source[i], bytes, from.pe);
  }
  here("shmemx_get_vector").transfers().quiet(traffic);
}

int shmemx_ctx_set_wait(shmem_ctx_t ctx, const char* policy) {
  auto& world = here("shmemx_ctx_set_wait");
  if (ctx == SHMEM_CTX_INVALID) return 1;
  auto& chosen = ctx == SHMEM_CTX_DEFAULT ? world.transfers().default_context().policy : ctx->traffic.policy;
  if (!policy) return chosen.reset(), 0;
  const auto named = lull::wait::wait_policy_named(policy);
  if (!named) return 1;
  world.wait().prepare(*named);
  chosen = named;
  return 0;
}

int shmemx_ctx_set_transform(shmem_ctx_t ctx, const char* how) {
  auto& world = here("shmemx_ctx_set_transform");
  if (ctx == SHMEM_CTX_INVALID) return 1;
  auto& chosen = ctx == SHMEM_CTX_DEFAULT ? world.transfers().default_context().transform : ctx->traffic.transform;
  if (!how) return chosen.reset(), 0;
  const auto named = lull::fabric::transforming_named(how);
  if (!named) return 1;
  chosen = named;
  return 0;
}

void shmemx_transform_stats(shmemx_transform_stats_t* stats) {
  const auto c = here("shmemx_transform_stats").transfers().transformed();
  *stats = {c.coalesced_puts, c.coalesced_bytes, c.messages, c.late, c.copied_puts, c.copied_bytes};
}

void shmemx_wait_stats(shmemx_wait_stats_t* stats) {
  const auto& s = here("shmemx_wait_stats").wait().statistics();
  *stats = {s.waits, s.sleeps, s.timeouts, s.missed, s.ns_waited, s.ns_asleep};
}

int shmemx_n_nodes() { return here("shmemx_n_nodes").places().nodes(); }
int shmemx_node_of(int pe) { return here("shmemx_node_of").places().node_of(pe_id{pe}).index(); }
int shmemx_oversubscribed() { return here("shmemx_oversubscribed").oversubscribed() ? 1 : 0; }
