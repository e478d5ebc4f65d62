// Complex numbers in C++: calls take C's type, as in the specification, and std::complex, with the same results.
#include <pshmem.h>

#include <complex>
#include <cstring>

#include "check.hpp"

namespace {

__extension__ typedef float _Complex c_float;    // NOLINT(modernize-use-using): an alias would not be pedantic's
__extension__ typedef double _Complex c_double;  // NOLINT(modernize-use-using)

template <class T, class Real>
void set(T& number, Real real, Real imaginary) {
  const Real parts[] = {real, imaginary};
  std::memcpy(&number, parts, sizeof number);
}

template <class T, class Real>
bool is(const T& number, std::complex<Real> value) {
  return std::memcmp(&number, &value, sizeof number) == 0;
}

#define USE(NAME, TYPE, REAL)                                                                      \
  {                                                                                                \
    static long sync[SHMEM_REDUCE_SYNC_SIZE];                                                      \
    static TYPE source[1], dest[1], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];                           \
    const auto pes = static_cast<REAL>(r.pes);                                                     \
    const auto expect = [&](REAL real, REAL imaginary) {                                           \
      CHECK((is(dest[0], std::complex<REAL>(real, imaginary))));                                   \
      shmem_barrier_all();                                                                         \
    };                                                                                             \
    set<TYPE, REAL>(source[0], 1, 2);                                                              \
    shmem_barrier_all();                                                                           \
    CHECK(shmem_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0);                      \
    expect(pes, 2 * pes);                                                                          \
    shmem_##NAME##_sum_to_all(dest, source, 1, 0, 0, r.pes, work, sync);                           \
    expect(pes, 2 * pes);                                                                          \
    set<TYPE, REAL>(source[0], r.me == 0 ? 3 : 0, 1); /* times i for each of the others */         \
    shmem_barrier_all();                                                                           \
    std::complex<REAL> product(3, 1);                                                              \
    for (int pe = 1; pe < r.pes; ++pe) product *= std::complex<REAL>(0, 1);                        \
    CHECK(pshmem_##NAME##_prod_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0);                    \
    expect(product.real(), product.imag());                                                        \
    pshmem_##NAME##_prod_to_all(dest, source, 1, 0, 0, r.pes, work, sync);                         \
    expect(product.real(), product.imag());                                                        \
    set<TYPE, REAL>(dest[0], 0, 0);                                                                \
    set<TYPE, REAL>(source[0], 1, 2);                                                              \
    TYPE scale;                                                                                    \
    set<TYPE, REAL>(scale, 0, 1);                                                                  \
    shmem_barrier_all();                                                                           \
    shmemx_##NAME##_accumulate(dest, source, 1, &scale, r.next);                                   \
    const std::size_t bytes = sizeof(TYPE);                                                        \
    shmemx_##NAME##_accumulate_strided(dest, nullptr, source, nullptr, &bytes, 0, &scale, r.next); \
    shmem_barrier_all();                                                                           \
    expect(-4, 2);                                                                                 \
  }

}  // namespace

int main() {
  shmem_init();
  const ring r;
  USE(complexf, c_float, float)
  USE(complexd, c_double, double)
  USE(complexf, std::complex<float>, float)
  USE(complexd, std::complex<double>, double)
  finish();
}
