// Atomic memory operations: the specification's names over fabric's one atomic update.
#include "shmem.h"
#include "shmem/current.hpp"

using lull::pe_id;
using lull::fabric::update;
using lull::fabric::update_op;
using lull::shmem::here;

namespace {

template <class T>
update make(update_op op, T operand = 0, T compare = 0) {
  return {op, sizeof(T), 0, static_cast<std::uint64_t>(operand), static_cast<std::uint64_t>(compare)};
}

}  // namespace

#define LULL_AMO(NAME, TYPE)                                                                                         \
  TYPE shmem_##NAME##_atomic_fetch(const TYPE* source, int pe) {                                                     \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_fetch")                                                    \
                                 .fetch(here("shmem_" #NAME "_atomic_fetch").default_context(),                      \
                                        const_cast<TYPE*>(source), make<TYPE>(update_op::fetch), pe_id{pe}));        \
  }                                                                                                                  \
  void shmem_##NAME##_atomic_set(TYPE* dest, TYPE value, int pe) {                                                   \
    here("shmem_" #NAME "_atomic_set")                                                                               \
        .change(here("shmem_" #NAME "_atomic_set").default_context(), dest, make(update_op::set, value), pe_id{pe}); \
  }                                                                                                                  \
  TYPE shmem_##NAME##_atomic_swap(TYPE* dest, TYPE value, int pe) {                                                  \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_swap")                                                     \
                                 .fetch(here("shmem_" #NAME "_atomic_swap").default_context(), dest,                 \
                                        make(update_op::set, value), pe_id{pe}));                                    \
  }                                                                                                                  \
  TYPE shmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe) {                               \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_compare_swap")                                             \
                                 .fetch(here("shmem_" #NAME "_atomic_compare_swap").default_context(), dest,         \
                                        make(update_op::compare_swap, value, cond), pe_id{pe}));                     \
  }                                                                                                                  \
  void shmem_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe) {                                                   \
    here("shmem_" #NAME "_atomic_add")                                                                               \
        .change(here("shmem_" #NAME "_atomic_add").default_context(), dest, make(update_op::add, value), pe_id{pe}); \
  }                                                                                                                  \
  void shmem_##NAME##_atomic_inc(TYPE* dest, int pe) {                                                               \
    here("shmem_" #NAME "_atomic_inc")                                                                               \
        .change(here("shmem_" #NAME "_atomic_inc").default_context(), dest,                                          \
                make(update_op::add, static_cast<TYPE>(1)), pe_id{pe});                                              \
  }                                                                                                                  \
  TYPE shmem_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe) {                                             \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_fetch_add")                                                \
                                 .fetch(here("shmem_" #NAME "_atomic_fetch_add").default_context(), dest,            \
                                        make(update_op::add, value), pe_id{pe}));                                    \
  }                                                                                                                  \
  TYPE shmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe) {                                                         \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_fetch_inc")                                                \
                                 .fetch(here("shmem_" #NAME "_atomic_fetch_inc").default_context(), dest,            \
                                        make(update_op::add, static_cast<TYPE>(1)), pe_id{pe}));                     \
  }
LULL_AMO_TYPES(LULL_AMO)

#define LULL_BITWISE_ONE(NAME, TYPE, WORD)                                                                         \
  void shmem_##NAME##_atomic_##WORD(TYPE* dest, TYPE value, int pe) {                                              \
    here("shmem_" #NAME "_atomic_" #WORD)                                                                          \
        .change(here("shmem_" #NAME "_atomic_" #WORD).default_context(), dest, make(update_op::bit_##WORD, value), \
                pe_id{pe});                                                                                        \
  }                                                                                                                \
  TYPE shmem_##NAME##_atomic_fetch_##WORD(TYPE* dest, TYPE value, int pe) {                                        \
    return static_cast<TYPE>(here("shmem_" #NAME "_atomic_fetch_" #WORD)                                           \
                                 .fetch(here("shmem_" #NAME "_atomic_fetch_" #WORD).default_context(), dest,       \
                                        make(update_op::bit_##WORD, value), pe_id{pe}));                           \
  }
#define LULL_BITWISE(NAME, TYPE) \
  LULL_BITWISE_ONE(NAME, TYPE, and) LULL_BITWISE_ONE(NAME, TYPE, or) LULL_BITWISE_ONE(NAME, TYPE, xor)
LULL_BITWISE_TYPES(LULL_BITWISE)
