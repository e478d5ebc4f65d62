// put, get and related functions: the specification's names over the byte-level operations of fabric.
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "shmem/current.hpp"

using lull::fabric::amo_op;
using lull::fabric::block_descriptor;
using lull::shmem::blocks_at;
using lull::shmem::examine_overlap;
using lull::shmem::plainly;
using lull::shmem::stream;
using lull::shmem::through;
using lull::wait::operation;

namespace {

inline void put(const char* call, shmem_ctx_t ctx, void* dest, const void* source, std::size_t bytes, int pe,
                bool blocking) {
  const stream to = through(call, ctx, {operation::put, dest, bytes, bytes}, pe);
  if (to.world.checks() && to.pe == to.world.me()) [[unlikely]]
    examine_overlap(call, dest, bytes, source, bytes);
  to.world.transfers().put(to.context, dest, source, bytes, to.pe, blocking);
}

// A get from memory that this PE shares takes some 20 instructions. All other cases are in this separate function, so
// that the fast path saves no registers for them.
[[gnu::noinline]] void get_otherwise(const char* call, shmem_ctx_t ctx, void* dest, const void* source,
                                     std::size_t bytes, int pe) {
  const stream from = through(call, ctx, {operation::get, source, bytes, bytes}, pe);
  if (from.world.checks() && from.pe == from.world.me()) [[unlikely]]
    examine_overlap(call, dest, bytes, source, bytes);
  from.world.transfers().get(from.context, dest, source, bytes, from.pe);
}
inline void get(const char* call, shmem_ctx_t ctx, void* dest, const void* source, std::size_t bytes, int pe) {
  const auto* const world = plainly(ctx);
  if (const void* const there = world ? world->memory().direct(source, lull::pe_id{pe}) : nullptr) [[likely]]
    return lull::fabric::copy_bytes(dest, there, bytes);
  get_otherwise(call, ctx, dest, source, bytes, pe);
}

[[gnu::noinline]] void get_nbi_otherwise(const char* call, shmem_ctx_t ctx, void* dest, const void* source,
                                         std::size_t bytes, int pe) {
  const stream from = through(call, ctx, {operation::get, source, bytes, bytes}, pe);
  from.world.transfers().get_nbi(from.context, dest, source, bytes, from.pe);
}
inline void get_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, std::size_t bytes, int pe) {
  const auto* const world = plainly(ctx);
  if (const void* const there = world ? world->memory().direct(source, lull::pe_id{pe}) : nullptr) [[likely]]
    return lull::fabric::copy_bytes(dest, there, bytes);
  get_nbi_otherwise(call, ctx, dest, source, bytes, pe);
}

inline void put_signal(const char* call, shmem_ctx_t ctx, void* dest, const void* source, std::size_t bytes,
                       std::uint64_t* word, std::uint64_t value, int op, int pe, bool blocking) {
  const stream to = through(call, ctx, {operation::signal, dest, bytes, bytes}, pe);
  if (to.world.checks()) [[unlikely]] {
    lull::shmem::examine_range(to.world.memory(), call, "the signal", word, sizeof *word);
    if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD)
      lull::shmem::mistake(call, "sig_op is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD");
  }
  to.world.transfers().put_signal(
      to.context, dest, source, bytes,
      {.word = word, .value = value, .how = op == SHMEM_SIGNAL_ADD ? amo_op::add : amo_op::set}, to.pe, blocking);
}

// `count` blocks of `block` elements each, at `dest` and at `source`, whose begins are `dst` and `sst` elements apart.
struct interleaved {
  std::ptrdiff_t dst, sst;
  std::size_t element_bytes, block, count;

  [[nodiscard]] block_descriptor at_dest() const { return at(dst); }
  [[nodiscard]] block_descriptor at_source() const { return at(sst); }
  [[nodiscard]] std::size_t bytes() const { return element_bytes * block * count; }
  // Whether the blocks are adjacent on both sides.
  [[nodiscard]] bool dense() const { return dst == sst && std::cmp_equal(dst, block); }

 private:
  [[nodiscard]] block_descriptor at(std::ptrdiff_t stride) const {
    block_descriptor s{.levels = 1};
    s.counts = {element_bytes * block, count};
    s.strides = {static_cast<std::int64_t>(element_bytes) * stride};
    return s;
  }
};

void iput(const char* call, shmem_ctx_t ctx, void* dest, const void* source, const interleaved& how, int pe) {
  if (how.bytes() == 0) return;
  if (how.dense()) return put(call, ctx, dest, source, how.bytes(), pe, true);
  const block_descriptor there = how.at_dest();
  const stream to = through(call, ctx, blocks_at(operation::strided, dest, there), pe);
  to.world.transfers().put_strided(to.context, dest, there, source, how.at_source(), to.pe);
}

void iget(const char* call, shmem_ctx_t ctx, void* dest, const void* source, const interleaved& how, int pe) {
  if (how.bytes() == 0) return;
  if (how.dense()) return get(call, ctx, dest, source, how.bytes(), pe);
  const block_descriptor there = how.at_source();
  const stream from = through(call, ctx, blocks_at(operation::strided, source, there), pe);
  from.world.transfers().get_strided(from.context, dest, how.at_dest(), source, there, from.pe);
}

// With LULL_CHECK: blocks may touch, but not overlap.
interleaved blocks(const char* call, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t element_bytes,
                   std::size_t block, std::size_t count) {
  if (lull::shmem::here(call).checks() && count != 0) [[unlikely]]
    for (const std::ptrdiff_t stride : {dst, sst})
      if (std::cmp_less(stride, block))
        lull::shmem::mistake(call, "the stride of " + std::to_string(stride) + " is less than the block of " +
                                       lull::counted(block, "element"));
  return {dst, sst, element_bytes, block, count};
}

}  // namespace

// clang-format off
#define LULL_RMA(PUT, GET, ELEMENT, BYTES)                                                                             \
  void shmem_##PUT(ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                                           \
    put("shmem_" #PUT, SHMEM_CTX_DEFAULT, dest, source, n * (BYTES), pe, true);                                        \
  }                                                                                                                    \
  void shmem_##GET(ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                                           \
    get("shmem_" #GET, SHMEM_CTX_DEFAULT, dest, source, n * (BYTES), pe);                                              \
  }                                                                                                                    \
  void shmem_##PUT##_nbi(ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                                     \
    put("shmem_" #PUT "_nbi", SHMEM_CTX_DEFAULT, dest, source, n * (BYTES), pe, false);                                \
  }                                                                                                                    \
  void shmem_##GET##_nbi(ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                                     \
    get_nbi("shmem_" #GET "_nbi", SHMEM_CTX_DEFAULT, dest, source, n * (BYTES), pe);                                   \
  }                                                                                                                    \
  void shmem_ctx_##PUT(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                      \
    put("shmem_ctx_" #PUT, ctx, dest, source, n * (BYTES), pe, true);                                                  \
  }                                                                                                                    \
  void shmem_ctx_##GET(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                      \
    get("shmem_ctx_" #GET, ctx, dest, source, n * (BYTES), pe);                                                        \
  }                                                                                                                    \
  void shmem_ctx_##PUT##_nbi(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                \
    put("shmem_ctx_" #PUT "_nbi", ctx, dest, source, n * (BYTES), pe, false);                                          \
  }                                                                                                                    \
  void shmem_ctx_##GET##_nbi(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t n, int pe) {                \
    get_nbi("shmem_ctx_" #GET "_nbi", ctx, dest, source, n * (BYTES), pe);                                             \
  }                                                                                                                    \
  LULL_PUT_SIGNAL(PUT##_signal, ELEMENT, BYTES, true)                                                                  \
  LULL_PUT_SIGNAL(PUT##_signal_nbi, ELEMENT, BYTES, false)
#define LULL_PUT_SIGNAL(NAME, ELEMENT, BYTES, BLOCKING)                                                                \
  void shmem_##NAME(ELEMENT* dest, const ELEMENT* source, size_t n, uint64_t* sig_addr, uint64_t signal, int sig_op,   \
                    int pe) {                                                                                          \
    put_signal("shmem_" #NAME, SHMEM_CTX_DEFAULT, dest, source, n * (BYTES), sig_addr, signal, sig_op, pe, BLOCKING);  \
  }                                                                                                                    \
  void shmem_ctx_##NAME(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t n, uint64_t* sig_addr,           \
                        uint64_t signal, int sig_op, int pe) {                                                         \
    put_signal("shmem_ctx_" #NAME, ctx, dest, source, n * (BYTES), sig_addr, signal, sig_op, pe, BLOCKING);            \
  }
#define LULL_BLOCKS(NAME, MOVE, ELEMENT, BYTES)                                                                        \
  void shmem_##NAME(ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,  \
                    int pe) {                                                                                          \
    constexpr const char* call = "shmem_" #NAME;                                                                       \
    MOVE(call, SHMEM_CTX_DEFAULT, dest, source, blocks(call, dst, sst, BYTES, bsize, nblocks), pe);                    \
  }                                                                                                                    \
  void shmem_ctx_##NAME(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst,           \
                        size_t bsize, size_t nblocks, int pe) {                                                        \
    constexpr const char* call = "shmem_ctx_" #NAME;                                                                   \
    MOVE(call, ctx, dest, source, blocks(call, dst, sst, BYTES, bsize, nblocks), pe);                                  \
  }
#define LULL_STRIDED(IPUT, IGET, ELEMENT, BYTES)                                                                       \
  void shmem_##IPUT(ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) {            \
    iput("shmem_" #IPUT, SHMEM_CTX_DEFAULT, dest, source, {dst, sst, BYTES, 1, n}, pe);                                     \
  }                                                                                                                    \
  void shmem_##IGET(ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) {            \
    iget("shmem_" #IGET, SHMEM_CTX_DEFAULT, dest, source, {dst, sst, BYTES, 1, n}, pe);                                     \
  }                                                                                                                    \
  void shmem_ctx_##IPUT(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, \
                        int pe) {                                                                                      \
    iput("shmem_ctx_" #IPUT, ctx, dest, source, {dst, sst, BYTES, 1, n}, pe);                                               \
  }                                                                                                                    \
  void shmem_ctx_##IGET(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, \
                        int pe) {                                                                                      \
    iget("shmem_ctx_" #IGET, ctx, dest, source, {dst, sst, BYTES, 1, n}, pe);                                               \
  }
#define LULL_ELEMENT(NAME, TYPE) /* its value need not outlive the call: a blocking put */                             \
  void shmem_##NAME##_p(TYPE* dest, TYPE value, int pe) {                                                              \
    put("shmem_" #NAME "_p", SHMEM_CTX_DEFAULT, dest, &value, sizeof value, pe, true);                                 \
  }                                                                                                                    \
  TYPE shmem_##NAME##_g(const TYPE* source, int pe) {                                                                  \
    TYPE value;                                                                                                        \
    get("shmem_" #NAME "_g", SHMEM_CTX_DEFAULT, &value, source, sizeof value, pe);                                     \
    return value;                                                                                                      \
  }                                                                                                                    \
  void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe) {                                         \
    put("shmem_ctx_" #NAME "_p", ctx, dest, &value, sizeof value, pe, true);                                           \
  }                                                                                                                    \
  TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE* source, int pe) {                                             \
    TYPE value;                                                                                                        \
    get("shmem_ctx_" #NAME "_g", ctx, &value, source, sizeof value, pe);                                               \
    return value;                                                                                                      \
  }

#define LULL_OF_TYPE(NAME, TYPE, A)                       \
  LULL_RMA(NAME##_put, NAME##_get, TYPE, sizeof(TYPE))     \
  LULL_STRIDED(NAME##_iput, NAME##_iget, TYPE, sizeof(TYPE)) \
  LULL_BLOCKS(NAME##_ibput, iput, TYPE, sizeof(TYPE))      \
  LULL_BLOCKS(NAME##_ibget, iget, TYPE, sizeof(TYPE))      \
  LULL_ELEMENT(NAME, TYPE)
LULL_RMA_TYPES(LULL_OF_TYPE, )
LULL_RMA(putmem, getmem, void, 1)

#define LULL_SIZED(SIZE) \
  LULL_RMA(put##SIZE, get##SIZE, void, (SIZE) / 8) LULL_STRIDED(iput##SIZE, iget##SIZE, void, (SIZE) / 8)               \
  LULL_BLOCKS(ibput##SIZE, iput, void, (SIZE) / 8) LULL_BLOCKS(ibget##SIZE, iget, void, (SIZE) / 8)
LULL_SIZES(LULL_SIZED)
// clang-format on
