// Calls chosen at run time by element type or variant: blocks, atomics on words, and signals.
#pragma once
#include <array>
#include <cstring>

#include "check.hpp"

namespace fuzz {

// Blocks of elements: how many, of which type, how far apart.
struct blocks {
  std::size_t type;  // an index of `element_bytes`
  std::ptrdiff_t dst, sst;
  std::size_t block, count;
};
constexpr std::array<std::size_t, 10> element_bytes{1, 2, 4, 8, 16, 1, 2, 4, 8, 8};

#define FUZZ_BLOCKS(MOVE)                                                                                             \
  inline void MOVE(shmem_ctx_t ctx, const blocks& b, void* to, const void* from, int pe) {                            \
    const bool plain = ctx == SHMEM_CTX_DEFAULT && b.count % 2 == 0;                                                  \
    switch (b.type) {                                                                                                 \
      case 0:                                                                                                         \
        return plain ? shmem_##MOVE##8(to, from, b.dst, b.sst, b.block, b.count, pe)                                  \
                     : shmem_ctx_##MOVE##8(ctx, to, from, b.dst, b.sst, b.block, b.count, pe);                        \
      case 1:                                                                                                         \
        return plain ? shmem_##MOVE##16(to, from, b.dst, b.sst, b.block, b.count, pe)                                 \
                     : shmem_ctx_##MOVE##16(ctx, to, from, b.dst, b.sst, b.block, b.count, pe);                       \
      case 2:                                                                                                         \
        return plain ? shmem_##MOVE##32(to, from, b.dst, b.sst, b.block, b.count, pe)                                 \
                     : shmem_ctx_##MOVE##32(ctx, to, from, b.dst, b.sst, b.block, b.count, pe);                       \
      case 3:                                                                                                         \
        return plain ? shmem_##MOVE##64(to, from, b.dst, b.sst, b.block, b.count, pe)                                 \
                     : shmem_ctx_##MOVE##64(ctx, to, from, b.dst, b.sst, b.block, b.count, pe);                       \
      case 4:                                                                                                         \
        return plain ? shmem_##MOVE##128(to, from, b.dst, b.sst, b.block, b.count, pe)                                \
                     : shmem_ctx_##MOVE##128(ctx, to, from, b.dst, b.sst, b.block, b.count, pe);                      \
      case 5:                                                                                                         \
        return shmem_ctx_schar_##MOVE(ctx, static_cast<signed char*>(to), static_cast<const signed char*>(from),      \
                                      b.dst, b.sst, b.block, b.count, pe);                                            \
      case 6:                                                                                                         \
        return shmem_ctx_short_##MOVE(ctx, static_cast<short*>(to), static_cast<const short*>(from), b.dst, b.sst,    \
                                      b.block, b.count, pe);                                                          \
      case 7:                                                                                                         \
        return shmem_ctx_float_##MOVE(ctx, static_cast<float*>(to), static_cast<const float*>(from), b.dst, b.sst,    \
                                      b.block, b.count, pe);                                                          \
      case 8:                                                                                                         \
        return shmem_ctx_uint64_##MOVE(ctx, static_cast<std::uint64_t*>(to), static_cast<const std::uint64_t*>(from), \
                                       b.dst, b.sst, b.block, b.count, pe);                                           \
      default:                                                                                                        \
        return shmem_ctx_double_##MOVE(ctx, static_cast<double*>(to), static_cast<const double*>(from), b.dst, b.sst, \
                                       b.block, b.count, pe);                                                         \
    }                                                                                                                 \
  }
FUZZ_BLOCKS(ibput)
FUZZ_BLOCKS(ibget)

// Atomic operations on a word. The first ones return nothing, the last ones return the old value late.
enum class atomic { add, inc, set, exclusive_or, fetch_add, swap, matching_swap, other_swap, add_nbi, swap_nbi, kinds };
constexpr bool is_late(atomic a) { return a == atomic::add_nbi || a == atomic::swap_nbi; }
constexpr bool returns_nothing(atomic a) { return a <= atomic::exclusive_or; }

template <class T>
T after(atomic a, T old, T operand) {
  switch (a) {
    case atomic::inc:
      return static_cast<T>(old + 1);
    case atomic::exclusive_or:
      return old ^ operand;
    case atomic::add:
    case atomic::fetch_add:
    case atomic::add_nbi:
      return static_cast<T>(old + operand);
    case atomic::other_swap:
      return old;
    default:
      return operand;
  }
}

// `old` is what the model expects; the value that the library returns is stored in `got`, perhaps late.
#define FUZZ_ATOMIC(NAME, T)                                                                 \
  inline void change(shmem_ctx_t ctx, atomic a, T* word, T operand, T old, T* got, int pe) { \
    *got = old; /* for operations that return nothing */                                     \
    switch (a) {                                                                             \
      case atomic::add:                                                                      \
        return shmem_ctx_##NAME##_atomic_add(ctx, word, operand, pe);                        \
      case atomic::inc:                                                                      \
        return shmem_ctx_##NAME##_atomic_inc(ctx, word, pe);                                 \
      case atomic::set:                                                                      \
        return shmem_ctx_##NAME##_atomic_set(ctx, word, operand, pe);                        \
      case atomic::exclusive_or:                                                             \
        return shmem_ctx_##NAME##_atomic_xor(ctx, word, operand, pe);                        \
      case atomic::fetch_add:                                                                \
        *got = shmem_ctx_##NAME##_atomic_fetch_add(ctx, word, operand, pe);                  \
        return;                                                                              \
      case atomic::swap:                                                                     \
        *got = shmem_ctx_##NAME##_atomic_swap(ctx, word, operand, pe);                       \
        return;                                                                              \
      case atomic::matching_swap:                                                            \
      case atomic::other_swap: {                                                             \
        const T condition = a == atomic::matching_swap ? old : static_cast<T>(old + 1);      \
        *got = shmem_ctx_##NAME##_atomic_compare_swap(ctx, word, condition, operand, pe);    \
        return;                                                                              \
      }                                                                                      \
      case atomic::add_nbi:                                                                  \
        *got = static_cast<T>(~old);                                                         \
        return shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, got, word, operand, pe);         \
      default:                                                                               \
        *got = static_cast<T>(~old);                                                         \
        return shmem_ctx_##NAME##_atomic_swap_nbi(ctx, got, word, operand, pe);              \
    }                                                                                        \
  }
FUZZ_ATOMIC(uint64, std::uint64_t)
FUZZ_ATOMIC(uint32, std::uint32_t)

inline void signal(shmem_ctx_t ctx, bool adds, std::uint64_t* word, std::uint64_t value, int pe) {
  if (ctx == SHMEM_CTX_DEFAULT && value % 2 == 0)
    adds ? shmem_signal_add(word, value, pe) : shmem_signal_set(word, value, pe);
  else
    adds ? shmem_ctx_signal_add(ctx, word, value, pe) : shmem_ctx_signal_set(ctx, word, value, pe);
}

}  // namespace fuzz
