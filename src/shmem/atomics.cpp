// Atomic memory operations, and signals without data: the specification's names over fabric's one atomic operation.
#include <cstring>

#include "shmem/current.hpp"

using lull::fabric::amo;
using lull::fabric::amo_op;
using lull::shmem::stream;
using lull::shmem::through;
using lull::shmem::transfer;
using lull::wait::operation;

namespace {

// Values travel as their bits, including floating-point values.
template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
amo make(amo_op op, T operand, T compare) {
  return {op, sizeof(T), 0, to_bits(operand), to_bits(compare)};
}

template <class T>
transfer word(const T* where, operation what = operation::atomic) {
  return {what, where, sizeof(T), sizeof(T)};
}

template <class T>
T fetch(const char* call, shmem_ctx_t ctx, amo_op op, const T* where, int pe, T operand = {}, T compare = {}) {
  const stream to = through(call, ctx, word(where), pe);
  return from_bits<T>(
      to.world.transfers().fetching(to.context, const_cast<T*>(where), make(op, operand, compare), to.pe));
}

template <class T>
void fetch_nbi(const char* call, shmem_ctx_t ctx, T* old, amo_op op, const T* where, int pe, T operand = {},
               T compare = {}) {
  const stream to = through(call, ctx, word(where), pe);
  to.world.transfers().fetching_nbi(to.context, old, const_cast<T*>(where), make(op, operand, compare), to.pe);
}

template <class T>
void change(const char* call, shmem_ctx_t ctx, amo_op op, T* where, T operand, int pe,
            operation what = operation::atomic) {
  const stream to = through(call, ctx, word(where, what), pe);
  to.world.transfers().non_fetching(to.context, where, make(op, operand, T{}), to.pe);
}

}  // namespace

// clang-format off
// Each function: for the default context, by its plain name and any deprecated name, and for a context.
#define LULL_READ_WRITE(NAME, TYPE, A)                                                                                \
  TYPE shmem_##NAME##_atomic_fetch(const TYPE* source, int pe) {                                                      \
    return fetch("shmem_" #NAME "_atomic_fetch", SHMEM_CTX_DEFAULT, amo_op::fetch, source, pe);                    \
  }                                                                                                                   \
  TYPE shmem_ctx_##NAME##_atomic_fetch(shmem_ctx_t ctx, const TYPE* source, int pe) {                                 \
    return fetch("shmem_ctx_" #NAME "_atomic_fetch", ctx, amo_op::fetch, source, pe);                              \
  }                                                                                                                   \
  TYPE shmem_##NAME##_fetch(const TYPE* source, int pe) { return shmem_##NAME##_atomic_fetch(source, pe); }           \
  void shmem_##NAME##_atomic_fetch_nbi(TYPE* old, const TYPE* source, int pe) {                                       \
    fetch_nbi("shmem_" #NAME "_atomic_fetch_nbi", SHMEM_CTX_DEFAULT, old, amo_op::fetch, source, pe);              \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, TYPE* old, const TYPE* source, int pe) {                  \
    fetch_nbi("shmem_ctx_" #NAME "_atomic_fetch_nbi", ctx, old, amo_op::fetch, source, pe);                        \
  }                                                                                                                   \
  LULL_CHANGE(NAME, TYPE, set, set, set)                                                                              \
  LULL_FETCH_WITH(NAME, TYPE, swap, swap, set)
#define LULL_CHANGE(NAME, TYPE, WORD, OLD, OP)                                                                        \
  LULL_ATOMIC_CHANGE(NAME, TYPE, WORD, OP)                                                                            \
  void shmem_##NAME##_##OLD(TYPE* dest, TYPE value, int pe) { shmem_##NAME##_atomic_##WORD(dest, value, pe); }
#define LULL_ATOMIC_CHANGE(NAME, TYPE, WORD, OP)                                                                      \
  void shmem_##NAME##_atomic_##WORD(TYPE* dest, TYPE value, int pe) {                                                 \
    change("shmem_" #NAME "_atomic_" #WORD, SHMEM_CTX_DEFAULT, amo_op::OP, dest, value, pe);                       \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_##WORD(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe) {                            \
    change("shmem_ctx_" #NAME "_atomic_" #WORD, ctx, amo_op::OP, dest, value, pe);                                 \
  }
#define LULL_FETCH_WITH(NAME, TYPE, WORD, OLD, OP)                                                                    \
  LULL_ATOMIC_FETCH_WITH(NAME, TYPE, WORD, OP)                                                                        \
  TYPE shmem_##NAME##_##OLD(TYPE* dest, TYPE value, int pe) { return shmem_##NAME##_atomic_##WORD(dest, value, pe); }
#define LULL_ATOMIC_FETCH_WITH(NAME, TYPE, WORD, OP)                                                                  \
  TYPE shmem_##NAME##_atomic_##WORD(TYPE* dest, TYPE value, int pe) {                                                 \
    return fetch("shmem_" #NAME "_atomic_" #WORD, SHMEM_CTX_DEFAULT, amo_op::OP, dest, pe, value);                 \
  }                                                                                                                   \
  TYPE shmem_ctx_##NAME##_atomic_##WORD(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe) {                            \
    return fetch("shmem_ctx_" #NAME "_atomic_" #WORD, ctx, amo_op::OP, dest, pe, value);                           \
  }                                                                                                                   \
  void shmem_##NAME##_atomic_##WORD##_nbi(TYPE* old, TYPE* dest, TYPE value, int pe) {                                \
    fetch_nbi("shmem_" #NAME "_atomic_" #WORD "_nbi", SHMEM_CTX_DEFAULT, old, amo_op::OP, dest, pe, value);        \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_##WORD##_nbi(shmem_ctx_t ctx, TYPE* old, TYPE* dest, TYPE value, int pe) {           \
    fetch_nbi("shmem_ctx_" #NAME "_atomic_" #WORD "_nbi", ctx, old, amo_op::OP, dest, pe, value);                  \
  }
LULL_EXTENDED_AMO_TYPES(LULL_READ_WRITE, )

#define LULL_ARITHMETIC(NAME, TYPE, A)                                                                                \
  LULL_CHANGE(NAME, TYPE, add, add, add)                                                                              \
  LULL_FETCH_WITH(NAME, TYPE, fetch_add, fadd, add)                                                                   \
  void shmem_##NAME##_atomic_inc(TYPE* dest, int pe) {                                                                \
    change<TYPE>("shmem_" #NAME "_atomic_inc", SHMEM_CTX_DEFAULT, amo_op::add, dest, 1, pe);                       \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_inc(shmem_ctx_t ctx, TYPE* dest, int pe) {                                           \
    change<TYPE>("shmem_ctx_" #NAME "_atomic_inc", ctx, amo_op::add, dest, 1, pe);                                 \
  }                                                                                                                   \
  void shmem_##NAME##_inc(TYPE* dest, int pe) { shmem_##NAME##_atomic_inc(dest, pe); }                                \
  TYPE shmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe) {                                                          \
    return fetch<TYPE>("shmem_" #NAME "_atomic_fetch_inc", SHMEM_CTX_DEFAULT, amo_op::add, dest, pe, 1);           \
  }                                                                                                                   \
  TYPE shmem_ctx_##NAME##_atomic_fetch_inc(shmem_ctx_t ctx, TYPE* dest, int pe) {                                     \
    return fetch<TYPE>("shmem_ctx_" #NAME "_atomic_fetch_inc", ctx, amo_op::add, dest, pe, 1);                     \
  }                                                                                                                   \
  TYPE shmem_##NAME##_finc(TYPE* dest, int pe) { return shmem_##NAME##_atomic_fetch_inc(dest, pe); }                  \
  void shmem_##NAME##_atomic_fetch_inc_nbi(TYPE* old, TYPE* dest, int pe) {                                           \
    fetch_nbi<TYPE>("shmem_" #NAME "_atomic_fetch_inc_nbi", SHMEM_CTX_DEFAULT, old, amo_op::add, dest, pe, 1);     \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, TYPE* old, TYPE* dest, int pe) {                      \
    fetch_nbi<TYPE>("shmem_ctx_" #NAME "_atomic_fetch_inc_nbi", ctx, old, amo_op::add, dest, pe, 1);               \
  }                                                                                                                   \
  TYPE shmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe) {                                \
    return fetch("shmem_" #NAME "_atomic_compare_swap", SHMEM_CTX_DEFAULT, amo_op::compare_swap, dest, pe, value,  \
                 cond);                                                                                               \
  }                                                                                                                   \
  TYPE shmem_ctx_##NAME##_atomic_compare_swap(shmem_ctx_t ctx, TYPE* dest, TYPE cond, TYPE value, int pe) {           \
    return fetch("shmem_ctx_" #NAME "_atomic_compare_swap", ctx, amo_op::compare_swap, dest, pe, value, cond);     \
  }                                                                                                                   \
  TYPE shmem_##NAME##_cswap(TYPE* dest, TYPE cond, TYPE value, int pe) {                                              \
    return shmem_##NAME##_atomic_compare_swap(dest, cond, value, pe);                                                 \
  }                                                                                                                   \
  void shmem_##NAME##_atomic_compare_swap_nbi(TYPE* old, TYPE* dest, TYPE cond, TYPE value, int pe) {                 \
    fetch_nbi("shmem_" #NAME "_atomic_compare_swap_nbi", SHMEM_CTX_DEFAULT, old, amo_op::compare_swap, dest, pe,   \
              value, cond);                                                                                           \
  }                                                                                                                   \
  void shmem_ctx_##NAME##_atomic_compare_swap_nbi(shmem_ctx_t ctx, TYPE* old, TYPE* dest, TYPE cond, TYPE value,      \
                                                  int pe) {                                                           \
    fetch_nbi("shmem_ctx_" #NAME "_atomic_compare_swap_nbi", ctx, old, amo_op::compare_swap, dest, pe, value,      \
              cond);                                                                                                  \
  }
LULL_AMO_TYPES(LULL_ARITHMETIC, )

#define LULL_BITWISE(NAME, TYPE, A)                          \
  LULL_ATOMIC_CHANGE(NAME, TYPE, and, bit_and)               \
  LULL_ATOMIC_CHANGE(NAME, TYPE, or, bit_or)                 \
  LULL_ATOMIC_CHANGE(NAME, TYPE, xor, bit_xor)               \
  LULL_ATOMIC_FETCH_WITH(NAME, TYPE, fetch_and, bit_and)     \
  LULL_ATOMIC_FETCH_WITH(NAME, TYPE, fetch_or, bit_or)       \
  LULL_ATOMIC_FETCH_WITH(NAME, TYPE, fetch_xor, bit_xor)
LULL_BITWISE_TYPES(LULL_BITWISE, )

#define LULL_SIGNAL(OP)                                                                                               \
  void shmem_signal_##OP(uint64_t* sig_addr, uint64_t signal, int pe) {                                               \
    change("shmem_signal_" #OP, SHMEM_CTX_DEFAULT, amo_op::OP, sig_addr, signal, pe, operation::signal);              \
  }                                                                                                                   \
  void shmem_ctx_signal_##OP(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) {                          \
    change("shmem_ctx_signal_" #OP, ctx, amo_op::OP, sig_addr, signal, pe, operation::signal);                        \
  }
LULL_SIGNAL(add)
LULL_SIGNAL(set)
// clang-format on
