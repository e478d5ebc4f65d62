// Strong types for values that must never mix: a joule is not a watt, a PE is not a node.
//
// Quantities are doubles with a unit. They add, subtract, compare and scale within their unit; the few physical
// products (W·s = J) are defined explicitly. `.value()` leaves the type system; use it only at the edges.
#pragma once
#include <compare>
#include <cstdint>

namespace lull {

template <class Unit>
class quantity {
 public:
  constexpr quantity() = default;
  constexpr explicit quantity(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }
  constexpr auto operator<=>(const quantity&) const = default;
  constexpr quantity& operator+=(quantity other) { return value_ += other.value_, *this; }
  constexpr quantity& operator-=(quantity other) { return value_ -= other.value_, *this; }
  friend constexpr quantity operator+(quantity a, quantity b) { return a += b; }
  friend constexpr quantity operator-(quantity a, quantity b) { return a -= b; }
  friend constexpr quantity operator*(quantity a, double k) { return quantity{a.value_ * k}; }
  friend constexpr quantity operator*(double k, quantity a) { return quantity{a.value_ * k}; }
  friend constexpr quantity operator/(quantity a, double k) { return quantity{a.value_ / k}; }
  friend constexpr double operator/(quantity a, quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0;
};

using joules = quantity<struct joule_unit>;
using watts = quantity<struct watt_unit>;
using seconds = quantity<struct second_unit>;

constexpr joules operator*(watts p, seconds t) { return joules{p.value() * t.value()}; }
constexpr joules operator*(seconds t, watts p) { return p * t; }
constexpr watts operator/(joules e, seconds t) { return watts{e.value() / t.value()}; }

[[nodiscard]] constexpr seconds from_ns(std::int64_t ns) { return seconds{static_cast<double>(ns) * 1e-9}; }

// Identities: comparable, usable as an index through index(), never convertible to each other.
template <class Tag>
class id {
 public:
  constexpr id() = default;
  constexpr explicit id(int index) : index_(index) {}
  [[nodiscard]] constexpr int index() const { return index_; }
  // clang-tidy mistakes the 0 with which the result of <=> is compared for a pointer.
  constexpr auto operator<=>(const id&) const = default;  // NOLINT(modernize-use-nullptr)

 private:
  int index_ = 0;
};

using pe_id = id<struct pe_tag>;
using node_id = id<struct node_tag>;

}  // namespace lull
