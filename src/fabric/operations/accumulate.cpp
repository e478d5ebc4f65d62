#include "fabric/operations/accumulate.hpp"

#include <complex>
#include <cstring>

namespace lull::fabric {
namespace {

template <class T>
void add(const axpy& how, void* target, const void* source, std::size_t bytes) {
  T factor;
  std::memcpy(&factor, how.factor.data(), sizeof factor);
  auto* const to = static_cast<std::byte*>(target);
  const auto* const from = static_cast<const std::byte*>(source);
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {  // memcpy vectorises and needs no alignment
    T x, y;
    std::memcpy(&x, from + at, sizeof x);
    std::memcpy(&y, to + at, sizeof y);
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, long>) {  // wraps around, like atomics
      using bits = std::make_unsigned_t<T>;
      y = static_cast<T>(static_cast<bits>(y) + static_cast<bits>(factor) * static_cast<bits>(x));
    } else {
      y += factor * x;
    }
    std::memcpy(to + at, &y, sizeof y);
  }
}

}  // namespace

std::size_t size_of(number type) {
  switch (type) {
    case number::int_:
      return sizeof(int);
    case number::long_:
      return sizeof(long);
    case number::float_:
      return sizeof(float);
    case number::double_:
    case number::complex_float:
      return sizeof(double);
    case number::complex_double:
      return 2 * sizeof(double);
  }
  return 0;
}

void apply_axpy(const axpy& how, void* target, const void* source, std::size_t bytes) {
  switch (how.type) {
    case number::int_:
      return add<int>(how, target, source, bytes);
    case number::long_:
      return add<long>(how, target, source, bytes);
    case number::float_:
      return add<float>(how, target, source, bytes);
    case number::double_:
      return add<double>(how, target, source, bytes);
    case number::complex_float:
      return add<std::complex<float>>(how, target, source, bytes);
    case number::complex_double:
      return add<std::complex<double>>(how, target, source, bytes);
  }
}

}  // namespace lull::fabric
