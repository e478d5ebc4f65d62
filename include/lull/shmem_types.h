/* The type tables of OpenSHMEM 1.5, once for all: declarations, definitions and C11 generics are expanded from them.
 *
 * Each table applies X(NAME, TYPE, A) to its rows: NAME as in function names, TYPE in C, and A as given (it may be
 * empty). The tables whose names end in _C hold each C type once, under one of its names: what a _Generic selection
 * needs. */
#ifndef LULL_SHMEM_TYPES_H
#define LULL_SHMEM_TYPES_H

#ifdef __cplusplus /* where C's complex numbers are an extension of the compiler */
__extension__ typedef float _Complex lull_complex_float;
__extension__ typedef double _Complex lull_complex_double;
#define LULL_COMPLEX_FLOAT lull_complex_float
#define LULL_COMPLEX_DOUBLE lull_complex_double
#else
#define LULL_COMPLEX_FLOAT float _Complex
#define LULL_COMPLEX_DOUBLE double _Complex
#endif

/* clang-format off */

/* Remote memory access, put with signal, broadcast, collect, all-to-all */
#define LULL_RMA_TYPES_C(X, A) \
  X(float, float, A) X(double, double, A) X(longdouble, long double, A) \
  X(char, char, A) X(schar, signed char, A) X(short, short, A) \
  X(int, int, A) X(long, long, A) X(longlong, long long, A) \
  X(uchar, unsigned char, A) X(ushort, unsigned short, A) X(uint, unsigned int, A) \
  X(ulong, unsigned long, A) X(ulonglong, unsigned long long, A)
#define LULL_RMA_TYPES(X, A) \
  LULL_RMA_TYPES_C(X, A) \
  X(int8, int8_t, A) X(int16, int16_t, A) X(int32, int32_t, A) \
  X(int64, int64_t, A) X(uint8, uint8_t, A) X(uint16, uint16_t, A) \
  X(uint32, uint32_t, A) X(uint64, uint64_t, A) X(size, size_t, A) \
  X(ptrdiff, ptrdiff_t, A)

/* Atomics: all of them, those that only read and write, and the bitwise ones */
#define LULL_AMO_TYPES_C(X, A) \
  X(int, int, A) X(long, long, A) X(longlong, long long, A) \
  X(uint, unsigned int, A) X(ulong, unsigned long, A) \
  X(ulonglong, unsigned long long, A)
#define LULL_AMO_TYPES(X, A) \
  LULL_AMO_TYPES_C(X, A) \
  X(int32, int32_t, A) X(int64, int64_t, A) X(uint32, uint32_t, A) \
  X(uint64, uint64_t, A) X(size, size_t, A) X(ptrdiff, ptrdiff_t, A)
#define LULL_EXTENDED_AMO_TYPES_C(X, A) \
  LULL_AMO_TYPES_C(X, A) X(float, float, A) X(double, double, A)
#define LULL_EXTENDED_AMO_TYPES(X, A) \
  LULL_AMO_TYPES(X, A) X(float, float, A) X(double, double, A)
/* For a _Generic: int32_t and int64_t are the C types int and long */
#define LULL_BITWISE_GENERIC(X, A) \
  X(uint, unsigned int, A) X(ulong, unsigned long, A) \
  X(ulonglong, unsigned long long, A) X(int32, int32_t, A) X(int64, int64_t, A)
#define LULL_BITWISE_TYPES(X, A) \
  X(uint, unsigned int, A) X(ulong, unsigned long, A) \
  X(ulonglong, unsigned long long, A) X(int32, int32_t, A) X(int64, int64_t, A) \
  X(uint32, uint32_t, A) X(uint64, uint64_t, A)

/* Waiting for a value; the last table is that of the deprecated shmem_TYPE_wait */
#define LULL_WAIT_TYPES_C(X, A) \
  LULL_AMO_TYPES_C(X, A) X(short, short, A) X(ushort, unsigned short, A)
#define LULL_WAIT_TYPES(X, A) \
  LULL_AMO_TYPES(X, A) X(short, short, A) X(ushort, unsigned short, A)

#define LULL_OLD_WAIT_TYPES(X, A) \
  X(short, short, A) X(int, int, A) X(long, long, A) \
  X(longlong, long long, A)

/* Reductions over teams: bitwise; greatest and least; sum and product */
#define LULL_BITWISE_REDUCE_TYPES_C(X, A) \
  X(short, short, A) X(int, int, A) X(long, long, A) X(longlong, long long, A) \
  X(uchar, unsigned char, A) X(ushort, unsigned short, A) X(uint, unsigned int, A) \
  X(ulong, unsigned long, A) X(ulonglong, unsigned long long, A)
#define LULL_BITWISE_REDUCE_TYPES(X, A) \
  LULL_BITWISE_REDUCE_TYPES_C(X, A) \
  X(int8, int8_t, A) X(int16, int16_t, A) X(int32, int32_t, A) \
  X(int64, int64_t, A) X(uint8, uint8_t, A) X(uint16, uint16_t, A) \
  X(uint32, uint32_t, A) X(uint64, uint64_t, A) X(size, size_t, A)
/* For a _Generic: signed char is supported under the name of int8_t */
#define LULL_BITWISE_REDUCE_GENERIC(X, A) LULL_BITWISE_REDUCE_TYPES_C(X, A) X(int8, int8_t, A)
#define LULL_COMPARE_REDUCE_TYPES_C(X, A) LULL_RMA_TYPES_C(X, A)
#define LULL_COMPARE_REDUCE_TYPES(X, A) LULL_RMA_TYPES(X, A)
#define LULL_COMPLEX_TYPES(X, A) \
  X(complexd, LULL_COMPLEX_DOUBLE, A) X(complexf, LULL_COMPLEX_FLOAT, A)
#define LULL_ARITHMETIC_REDUCE_TYPES_C(X, A) LULL_RMA_TYPES_C(X, A) LULL_COMPLEX_TYPES(X, A)
#define LULL_ARITHMETIC_REDUCE_TYPES(X, A) LULL_RMA_TYPES(X, A) LULL_COMPLEX_TYPES(X, A)

/* Reductions over active sets (deprecated) */
#define LULL_BITWISE_TO_ALL_TYPES(X, A) \
  X(short, short, A) X(int, int, A) X(long, long, A) \
  X(longlong, long long, A)
#define LULL_COMPARE_TO_ALL_TYPES(X, A) \
  LULL_BITWISE_TO_ALL_TYPES(X, A) X(float, float, A) X(double, double, A) \
  X(longdouble, long double, A)
#define LULL_ARITHMETIC_TO_ALL_TYPES(X, A) \
  LULL_COMPARE_TO_ALL_TYPES(X, A) LULL_COMPLEX_TYPES(X, A)

/* Transfers named by the bits of an element: X(SIZE) */
#define LULL_SIZES(X) X(8) X(16) X(32) X(64) X(128)

/* Accumulate (shmemx.h): X(NAME, TYPE, A) */
#define LULL_ACCUMULATE_TYPES(X, A) \
  X(int, int, A) X(long, long, A) X(float, float, A) \
  X(double, double, A) LULL_COMPLEX_TYPES(X, A)

/* clang-format on */
#endif
