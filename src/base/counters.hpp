// Adds structs of counters field by field. The compiler counts the fields, so that a new field is added, too.
//
// Such a struct has only public fields, at most twelve: numbers, arrays, and structs of the same kind or with an
// operator+=.
#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace lull {
namespace counters {

struct any_field {
  template <class Field>
  operator Field() const;  // NOLINT(google-explicit-constructor): stands for whatever the field is
};

template <class Counters, class... Fields>
[[nodiscard]] consteval std::size_t count() {
  if constexpr (requires { Counters{Fields{}..., any_field{}}; })
    return count<Counters, Fields..., any_field>();
  else
    return sizeof...(Fields);
}

template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t size>
struct is_array<std::array<T, size>> : std::true_type {};

}  // namespace counters

template <class Counters>
constexpr std::size_t number_of_fields = counters::count<Counters>();

// References to all fields, in order. A structured binding with a wrong number of names does not compile.
template <class Counters>
[[nodiscard]] constexpr auto fields_of(Counters& of) {
  constexpr std::size_t count = number_of_fields<std::remove_const_t<Counters>>;
  static_assert(count >= 1 && count <= 12, "fields_of() knows structs of one to twelve fields");
  if constexpr (count == 1) {
    auto& [a] = of;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = of;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = of;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = of;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = of;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = of;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = of;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = of;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = of;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = of;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

// Adds the fields of `from` to those of `to`.
template <class Counters>
constexpr Counters& add_fields(Counters& to, const Counters& from) {
  const auto add = [](const auto& self, auto& mine, const auto& other) -> void {
    using field = std::remove_cvref_t<decltype(mine)>;
    if constexpr (counters::is_array<field>::value)
      for (std::size_t i = 0; i < mine.size(); ++i) self(self, mine[i], other[i]);
    else if constexpr (requires { mine += other; })
      mine += other;
    else
      add_fields(mine, other);
  };
  const auto mine = fields_of(to);
  const auto others = fields_of(from);
  [&]<std::size_t... number>(std::index_sequence<number...>) {
    (add(add, std::get<number>(mine), std::get<number>(others)), ...);
  }
  (std::make_index_sequence<number_of_fields<Counters>>());
  return to;
}

}  // namespace lull
