/* C++ only: the functions of complex numbers take std::complex too, by overloads; those that are declared extern "C"
 * take C's type, as the specification says. Both have the same representation.
 *
 * Included as often as shmem_functions.h, with the same LULL_NAME; by some programs within their own extern "C". */
/* clang-format off */
extern "C++" {
#ifndef LULL_SHMEM_COMPLEX_H
#define LULL_SHMEM_COMPLEX_H
#include <complex>

inline lull_complex_float* lull_as_in_c(std::complex<float>* numbers) {
  return reinterpret_cast<lull_complex_float*>(numbers);
}
inline lull_complex_double* lull_as_in_c(std::complex<double>* numbers) {
  return reinterpret_cast<lull_complex_double*>(numbers);
}
inline const lull_complex_float* lull_as_in_c(const std::complex<float>* numbers) {
  return reinterpret_cast<const lull_complex_float*>(numbers);
}
inline const lull_complex_double* lull_as_in_c(const std::complex<double>* numbers) {
  return reinterpret_cast<const lull_complex_double*>(numbers);
}
#endif

#define LULL_STD_COMPLEX(NAME, TYPE, OP) \
  inline int LULL_NAME(NAME##_##OP##_reduce)(shmem_team_t team, TYPE* dest, const TYPE* source, size_t nreduce) { \
    return LULL_NAME(NAME##_##OP##_reduce)(team, lull_as_in_c(dest), lull_as_in_c(source), nreduce); \
  } \
  inline void LULL_NAME(NAME##_##OP##_to_all)(TYPE* dest, const TYPE* source, int nreduce, int PE_start, \
                                              int logPE_stride, int PE_size, TYPE* pWrk, long* pSync) { \
    LULL_NAME(NAME##_##OP##_to_all)(lull_as_in_c(dest), lull_as_in_c(source), nreduce, PE_start, logPE_stride, \
                                    PE_size, lull_as_in_c(pWrk), pSync); \
  }
LULL_STD_COMPLEX(complexf, std::complex<float>, sum)
LULL_STD_COMPLEX(complexf, std::complex<float>, prod)
LULL_STD_COMPLEX(complexd, std::complex<double>, sum)
LULL_STD_COMPLEX(complexd, std::complex<double>, prod)
#undef LULL_STD_COMPLEX
}

/* clang-format on */
