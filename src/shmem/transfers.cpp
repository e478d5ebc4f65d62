// put, get and their relatives: the specification's names over the byte-level operations of fabric.
#include "shmem.h"
#include "shmem/current.hpp"

using lull::pe_id;
using lull::shmem::here;

void shmem_putmem(void* dest, const void* source, size_t bytes, int pe) {
  here("shmem_putmem").put(here("shmem_putmem").default_context(), dest, source, bytes, pe_id{pe}, true);
}
void shmem_putmem_nbi(void* dest, const void* source, size_t bytes, int pe) {
  here("shmem_putmem_nbi").put(here("shmem_putmem_nbi").default_context(), dest, source, bytes, pe_id{pe}, false);
}
void shmem_getmem(void* dest, const void* source, size_t bytes, int pe) {
  here("shmem_getmem").get(here("shmem_getmem").default_context(), dest, source, bytes, pe_id{pe});
}
// A non-blocking get may complete at once.
void shmem_getmem_nbi(void* dest, const void* source, size_t bytes, int pe) {
  here("shmem_getmem_nbi").get(here("shmem_getmem_nbi").default_context(), dest, source, bytes, pe_id{pe});
}

// A single element is a blocking put: its value need not outlive the call.
#define LULL_RMA(NAME, TYPE)                                                                                       \
  void shmem_##NAME##_put(TYPE* dest, const TYPE* source, size_t n, int pe) {                                      \
    here("shmem_" #NAME "_put")                                                                                    \
        .put(here("shmem_" #NAME "_put").default_context(), dest, source, n * sizeof(TYPE), pe_id{pe}, true);      \
  }                                                                                                                \
  void shmem_##NAME##_get(TYPE* dest, const TYPE* source, size_t n, int pe) {                                      \
    here("shmem_" #NAME "_get")                                                                                    \
        .get(here("shmem_" #NAME "_get").default_context(), dest, source, n * sizeof(TYPE), pe_id{pe});            \
  }                                                                                                                \
  void shmem_##NAME##_put_nbi(TYPE* dest, const TYPE* source, size_t n, int pe) {                                  \
    here("shmem_" #NAME "_put_nbi")                                                                                \
        .put(here("shmem_" #NAME "_put_nbi").default_context(), dest, source, n * sizeof(TYPE), pe_id{pe}, false); \
  }                                                                                                                \
  void shmem_##NAME##_get_nbi(TYPE* dest, const TYPE* source, size_t n, int pe) {                                  \
    here("shmem_" #NAME "_get_nbi")                                                                                \
        .get(here("shmem_" #NAME "_get_nbi").default_context(), dest, source, n * sizeof(TYPE), pe_id{pe});        \
  }                                                                                                                \
  void shmem_##NAME##_p(TYPE* dest, TYPE value, int pe) {                                                          \
    here("shmem_" #NAME "_p")                                                                                      \
        .put(here("shmem_" #NAME "_p").default_context(), dest, &value, sizeof value, pe_id{pe}, true);            \
  }                                                                                                                \
  TYPE shmem_##NAME##_g(const TYPE* source, int pe) {                                                              \
    TYPE value;                                                                                                    \
    here("shmem_" #NAME "_g")                                                                                      \
        .get(here("shmem_" #NAME "_g").default_context(), &value, source, sizeof value, pe_id{pe});                \
    return value;                                                                                                  \
  }
LULL_RMA_TYPES(LULL_RMA)

void shmem_putmem_signal(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op,
                         int pe) {
  here("shmem_putmem_signal")
      .put_signal(
          here("shmem_putmem_signal").default_context(), dest, source, bytes,
          {sig_addr, signal, sig_op == SHMEM_SIGNAL_ADD ? lull::fabric::update_op::add : lull::fabric::update_op::set},
          pe_id{pe}, true);
}
void shmem_putmem_signal_nbi(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal,
                             int sig_op, int pe) {
  here("shmem_putmem_signal_nbi")
      .put_signal(
          here("shmem_putmem_signal_nbi").default_context(), dest, source, bytes,
          {sig_addr, signal, sig_op == SHMEM_SIGNAL_ADD ? lull::fabric::update_op::add : lull::fabric::update_op::set},
          pe_id{pe}, false);
}
