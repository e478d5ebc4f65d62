// The seven reduction operations, for every type that supports them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lull::shmem {

// clang-format off
struct op_and  { static constexpr std::uint64_t kind = 1; template <class T> static T of(T a, T b) { return static_cast<T>(a & b); } };
struct op_or   { static constexpr std::uint64_t kind = 2; template <class T> static T of(T a, T b) { return static_cast<T>(a | b); } };
struct op_xor  { static constexpr std::uint64_t kind = 3; template <class T> static T of(T a, T b) { return static_cast<T>(a ^ b); } };
struct op_max  { static constexpr std::uint64_t kind = 4; template <class T> static T of(T a, T b) { return b > a ? b : a; } };
struct op_min  { static constexpr std::uint64_t kind = 5; template <class T> static T of(T a, T b) { return b < a ? b : a; } };
struct op_sum  { static constexpr std::uint64_t kind = 6; template <class T> static T of(T a, T b) { return static_cast<T>(a + b); } };
struct op_prod { static constexpr std::uint64_t kind = 7; template <class T> static T of(T a, T b) { return static_cast<T>(a * b); } };
// clang-format on

template <class T>
struct wrapping {  // the unsigned type for the computation: signed integers wrap around without overflow
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct wrapping<T> {
  using type = std::conditional_t<sizeof(T) < 8, std::uint32_t, std::uint64_t>;
};

// The element operation of a reduction in fabric: into[i] = into[i] ∘ from[i].
template <class T, class Op>
void combine(void* into, const void* from, std::size_t count) {
  auto* const a = static_cast<T*>(into);
  const auto* const b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T> && Op::kind >= op_sum::kind) {
      using wide = typename wrapping<T>::type;
      a[i] = static_cast<T>(Op::template of<wide>(static_cast<wide>(a[i]), static_cast<wide>(b[i])));
    } else {
      a[i] = Op::template of<T>(a[i], b[i]);
    }
  }
}

}  // namespace lull::shmem
