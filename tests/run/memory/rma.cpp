// put, get, p and g of every type and size, blocking and not, through the default context and another.
#include <cstring>

#include "check.hpp"

namespace {

constexpr std::size_t most = 33;

template <class T>
T value(int pe, std::size_t i) {
  return static_cast<T>((static_cast<std::size_t>(pe) * 37 + i) % 101);
}

template <class T>
bool holds(const T* array, std::size_t count, int pe) {
  for (std::size_t i = 0; i < count; ++i)
    if (array[i] != value<T>(pe, i)) return false;
  return array[count] == T{};
}

template <class T>
void forget(T* array) {
  shmem_barrier_all();
  for (std::size_t i = 0; i <= most; ++i) array[i] = T{};
  shmem_barrier_all();
}

template <class T>
void prepare(T* array, int pe) {
  for (std::size_t i = 0; i < most; ++i) array[i] = value<T>(pe, i);
}

// Every form of writing to the next PE and of reading from it. The arrays are symmetric; the other side need not be.
template <class T, class Put>
void a_put_arrives(const ring& r, T* area, std::size_t count, Put put) {
  T mine[most];
  prepare(mine, r.me);
  put(area, static_cast<const T*>(mine), count);
  shmem_barrier_all();
  CHECK(holds(area, count, r.before));
  forget(area);
}

template <class T, class Get>
void a_get_brings(const ring& r, T* area, std::size_t count, Get get) {
  prepare(area, r.me);
  shmem_barrier_all();
  T there[most + 1] = {};
  get(static_cast<T*>(there), static_cast<const T*>(area), count);
  CHECK(holds(there, count, r.next));
  forget(area);
}

#define WAYS(T, PUT, GET)                                                                                             \
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, most}) {                                            \
    a_put_arrives<T>(r, area, count, [&](T* d, const T* s, std::size_t n) { shmem_##PUT(d, s, n, r.next); });         \
    a_put_arrives<T>(r, area, count, [&](T* d, const T* s, std::size_t n) {                                           \
      shmem_##PUT##_nbi(d, s, n, r.next);                                                                             \
      shmem_quiet();                                                                                                  \
    });                                                                                                               \
    a_put_arrives<T>(r, area, count, [&](T* d, const T* s, std::size_t n) {                                           \
      shmem_ctx_##PUT(ctx, d, s, n, r.next);                                                                          \
      shmem_ctx_quiet(ctx);                                                                                           \
    });                                                                                                               \
    a_put_arrives<T>(r, area, count, [&](T* d, const T* s, std::size_t n) {                                           \
      shmem_ctx_##PUT##_nbi(ctx, d, s, n, r.next);                                                                    \
      shmem_ctx_quiet(ctx);                                                                                           \
    });                                                                                                               \
    a_get_brings<T>(r, area, count, [&](T* d, const T* s, std::size_t n) { shmem_##GET(d, s, n, r.next); });          \
    a_get_brings<T>(r, area, count, [&](T* d, const T* s, std::size_t n) { shmem_ctx_##GET(ctx, d, s, n, r.next); }); \
    a_get_brings<T>(r, area, count, [&](T* d, const T* s, std::size_t n) {                                            \
      shmem_##GET##_nbi(d, s, n, r.next);                                                                             \
      shmem_quiet();                                                                                                  \
    });                                                                                                               \
    a_get_brings<T>(r, area, count, [&](T* d, const T* s, std::size_t n) {                                            \
      shmem_ctx_##GET##_nbi(ctx, d, s, n, r.next);                                                                    \
      shmem_ctx_quiet(ctx);                                                                                           \
    });                                                                                                               \
  }

#define ONE_TYPE(NAME, TYPE, A)                                                                                     \
  {                                                                                                                 \
    auto* const area = symmetric<TYPE>(most + 1);                                                                   \
    WAYS(TYPE, NAME##_put, NAME##_get)                                                                              \
    a_put_arrives<TYPE>(r, area, 1, [&](TYPE* d, const TYPE* s, std::size_t) { shmem_##NAME##_p(d, *s, r.next); }); \
    a_put_arrives<TYPE>(r, area, 1, [&](TYPE* d, const TYPE* s, std::size_t) {                                      \
      shmem_ctx_##NAME##_p(ctx, d, *s, r.next);                                                                     \
      shmem_ctx_quiet(ctx);                                                                                         \
    });                                                                                                             \
    a_get_brings<TYPE>(r, area, 1, [&](TYPE* d, const TYPE* s, std::size_t) { *d = shmem_##NAME##_g(s, r.next); }); \
    a_get_brings<TYPE>(r, area, 1,                                                                                  \
                       [&](TYPE* d, const TYPE* s, std::size_t) { *d = shmem_ctx_##NAME##_g(ctx, s, r.next); });    \
    shmem_free(area);                                                                                               \
  }

void every_type(const ring& r, shmem_ctx_t ctx) { LULL_RMA_TYPES(ONE_TYPE, ) }

#define ONE_SIZE(SIZE)                               \
  {                                                  \
    using element = unsigned_of<(SIZE) / 8>;         \
    auto* const area = symmetric<element>(most + 1); \
    WAYS(element, put##SIZE, get##SIZE)              \
    shmem_free(area);                                \
  }

template <std::size_t Bytes>
struct unsigned_of {
  unsigned char bytes[Bytes] = {};
  unsigned_of() = default;
  explicit unsigned_of(std::size_t number) {
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(number++);
  }
  bool operator==(const unsigned_of&) const = default;
};

void every_size(const ring& r, shmem_ctx_t ctx) {
  LULL_SIZES(ONE_SIZE)
  auto* const area = symmetric<unsigned char>(most + 1);
  WAYS(unsigned char, putmem, getmem)
  shmem_free(area);
}

void nothing_may_come_from_nowhere(const ring& r) {
  auto* const area = symmetric<int>(1);
  shmem_int_put(area, nullptr, 0, r.next);
  shmem_int_get(nullptr, area, 0, r.next);
  shmem_putmem_nbi(nullptr, nullptr, 0, r.next);
  shmem_getmem_nbi(nullptr, nullptr, 0, r.next);
  shmem_barrier_all();
  CHECK(*area == 0);
  shmem_free(area);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  every_type(r, ctx);
  every_size(r, ctx);
  nothing_may_come_from_nowhere(r);
  shmem_ctx_destroy(ctx);
  finish();
}
