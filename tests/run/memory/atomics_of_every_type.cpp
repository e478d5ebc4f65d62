// Every atomic operation of every type, with and without a context, blocking and not: its result and its effect.
#include "check.hpp"

namespace {

// The word is on the next PE; no other PE touches it.
template <class T>
struct word {
  T* cell = symmetric<T>(1);
  T* old = symmetric<T>(1);
  int pe;
  explicit word(int where) : pe(where) {}
  word(const word&) = delete;
  word& operator=(const word&) = delete;
  ~word() {
    shmem_free(old);
    shmem_free(cell);
  }
};

#define IS(NAME, VALUE) CHECK(shmem_##NAME##_atomic_fetch(w.cell, w.pe) == (VALUE))
// The old value is available after shmem_quiet.
#define TOLD(CALL, VALUE)         \
  *w.old = static_cast<type>(99); \
  CALL;                           \
  shmem_quiet();                  \
  CHECK(*w.old == (VALUE))
#define TOLD_IN(CALL, VALUE)      \
  *w.old = static_cast<type>(99); \
  CALL;                           \
  shmem_ctx_quiet(ctx);           \
  CHECK(*w.old == (VALUE))

#define READ_WRITE(NAME, TYPE, A)                                                      \
  {                                                                                    \
    using type = TYPE;                                                                 \
    const auto v = [](int n) { return static_cast<TYPE>(n); };                         \
    const word<TYPE> w(r.next);                                                        \
    shmem_##NAME##_atomic_set(w.cell, v(3), w.pe);                                     \
    shmem_quiet();                                                                     \
    IS(NAME, v(3));                                                                    \
    CHECK(shmem_##NAME##_atomic_swap(w.cell, v(4), w.pe) == v(3));                     \
    shmem_ctx_##NAME##_atomic_set(ctx, w.cell, v(5), w.pe);                            \
    shmem_ctx_quiet(ctx);                                                              \
    CHECK(shmem_ctx_##NAME##_atomic_fetch(ctx, w.cell, w.pe) == v(5));                 \
    CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, w.cell, v(6), w.pe) == v(5));            \
    TOLD(shmem_##NAME##_atomic_fetch_nbi(w.old, w.cell, w.pe), v(6));                  \
    TOLD(shmem_##NAME##_atomic_swap_nbi(w.old, w.cell, v(7), w.pe), v(6));             \
    TOLD_IN(shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, w.old, w.cell, w.pe), v(7));      \
    TOLD_IN(shmem_ctx_##NAME##_atomic_swap_nbi(ctx, w.old, w.cell, v(8), w.pe), v(7)); \
    IS(NAME, v(8));                                                                    \
    shmem_##NAME##_set(w.cell, v(9), w.pe);                                            \
    shmem_quiet();                                                                     \
    CHECK(shmem_##NAME##_fetch(w.cell, w.pe) == v(9));                                 \
    CHECK(shmem_##NAME##_swap(w.cell, v(1), w.pe) == v(9));                            \
    IS(NAME, v(1));                                                                    \
  }

#define ARITHMETIC(NAME, TYPE, A)                                                                       \
  {                                                                                                     \
    using type = TYPE;                                                                                  \
    const auto v = [](int n) { return static_cast<TYPE>(n); };                                          \
    const word<TYPE> w(r.next);                                                                         \
    shmem_##NAME##_atomic_add(w.cell, v(10), w.pe);                                                     \
    shmem_##NAME##_atomic_inc(w.cell, w.pe);                                                            \
    shmem_quiet();                                                                                      \
    IS(NAME, v(11));                                                                                    \
    CHECK(shmem_##NAME##_atomic_fetch_add(w.cell, v(5), w.pe) == v(11));                                \
    CHECK(shmem_##NAME##_atomic_fetch_inc(w.cell, w.pe) == v(16));                                      \
    CHECK(shmem_##NAME##_atomic_compare_swap(w.cell, v(1), v(2), w.pe) == v(17));                       \
    CHECK(shmem_##NAME##_atomic_compare_swap(w.cell, v(17), v(20), w.pe) == v(17));                     \
    IS(NAME, v(20));                                                                                    \
    shmem_ctx_##NAME##_atomic_add(ctx, w.cell, v(10), w.pe);                                            \
    shmem_ctx_##NAME##_atomic_inc(ctx, w.cell, w.pe);                                                   \
    shmem_ctx_quiet(ctx);                                                                               \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_add(ctx, w.cell, v(9), w.pe) == v(31));                       \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(ctx, w.cell, w.pe) == v(40));                             \
    CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ctx, w.cell, v(41), v(50), w.pe) == v(41));            \
    TOLD(shmem_##NAME##_atomic_fetch_add_nbi(w.old, w.cell, v(1), w.pe), v(50));                        \
    TOLD(shmem_##NAME##_atomic_fetch_inc_nbi(w.old, w.cell, w.pe), v(51));                              \
    TOLD(shmem_##NAME##_atomic_compare_swap_nbi(w.old, w.cell, v(52), v(60), w.pe), v(52));             \
    TOLD_IN(shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, w.old, w.cell, v(1), w.pe), v(60));            \
    TOLD_IN(shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, w.old, w.cell, w.pe), v(61));                  \
    TOLD_IN(shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, w.old, w.cell, v(62), v(70), w.pe), v(62)); \
    IS(NAME, v(70));                                                                                    \
    shmem_##NAME##_add(w.cell, v(1), w.pe);                                                             \
    shmem_##NAME##_inc(w.cell, w.pe);                                                                   \
    shmem_quiet();                                                                                      \
    CHECK(shmem_##NAME##_fadd(w.cell, v(1), w.pe) == v(72));                                            \
    CHECK(shmem_##NAME##_finc(w.cell, w.pe) == v(73));                                                  \
    CHECK(shmem_##NAME##_cswap(w.cell, v(74), v(0), w.pe) == v(74));                                    \
    shmem_##NAME##_atomic_add(w.cell, static_cast<TYPE>(-1), w.pe); /* below zero: wraps if unsigned */ \
    shmem_quiet();                                                                                      \
    IS(NAME, static_cast<TYPE>(-1));                                                                    \
  }

#define BITWISE_ONE(NAME, TYPE, OP, SYMBOL)                                                       \
  {                                                                                               \
    using type = TYPE;                                                                            \
    const word<TYPE> w(r.next);                                                                   \
    const auto at_first = static_cast<TYPE>(0xF0F0F0F0F0F0F0F0ULL);                               \
    const auto mask = static_cast<TYPE>(0x8FF00FF100FF00FFULL);                                   \
    const auto then = static_cast<TYPE>(at_first SYMBOL mask);                                    \
    const auto again = static_cast<TYPE>(then SYMBOL mask);                                       \
    const auto start = [&] {                                                                      \
      shmem_##NAME##_atomic_compare_swap(w.cell, shmem_##NAME##_g(w.cell, w.pe), at_first, w.pe); \
    };                                                                                            \
    start();                                                                                      \
    shmem_##NAME##_atomic_##OP(w.cell, mask, w.pe);                                               \
    shmem_quiet();                                                                                \
    IS(NAME, then);                                                                               \
    CHECK(shmem_##NAME##_atomic_fetch_##OP(w.cell, mask, w.pe) == then);                          \
    IS(NAME, again);                                                                              \
    start();                                                                                      \
    shmem_ctx_##NAME##_atomic_##OP(ctx, w.cell, mask, w.pe);                                      \
    shmem_ctx_quiet(ctx);                                                                         \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_##OP(ctx, w.cell, mask, w.pe) == then);                 \
    start();                                                                                      \
    TOLD(shmem_##NAME##_atomic_fetch_##OP##_nbi(w.old, w.cell, mask, w.pe), at_first);            \
    TOLD_IN(shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(ctx, w.old, w.cell, mask, w.pe), then);    \
    IS(NAME, again);                                                                              \
  }
#define BITWISE(NAME, TYPE, A)    \
  BITWISE_ONE(NAME, TYPE, and, &) \
  BITWISE_ONE(NAME, TYPE, or, |)  \
  BITWISE_ONE(NAME, TYPE, xor, ^)

void every_type(const ring& r, shmem_ctx_t ctx) {
  LULL_EXTENDED_AMO_TYPES(READ_WRITE, )
  LULL_AMO_TYPES(ARITHMETIC, )
  LULL_BITWISE_TYPES(BITWISE, )
}

// All PEs at once on one word: each non-blocking ticket is unique.
void non_blocking_tickets_are_unique(const ring& r) {
  constexpr int rounds = 200;
  auto* const ticket = symmetric<long>(1);
  auto* const mine = symmetric<long>(rounds);
  auto* const taken = symmetric<int>(static_cast<std::size_t>(rounds * r.pes));
  for (int i = 0; i < rounds; ++i) shmem_long_atomic_fetch_inc_nbi(mine + i, ticket, 0);
  shmem_quiet();
  for (int i = 0; i < rounds; ++i) shmem_int_atomic_inc(taken + mine[i], 0);
  shmem_barrier_all();
  if (r.me == 0)
    for (int i = 0; i < rounds * r.pes; ++i) CHECK(taken[i] == 1);
  shmem_barrier_all();
  shmem_free(taken);
  shmem_free(mine);
  shmem_free(ticket);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
  every_type(r, ctx);
  non_blocking_tickets_are_unique(r);
  shmem_ctx_destroy(ctx);
  finish();
}
