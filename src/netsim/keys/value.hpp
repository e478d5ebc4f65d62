// A value as a user's file holds it, or in the simulator's units: nothing, a boolean, a number, a text, a list or a
// table.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lull::netsim {

struct value;
using list = std::vector<value>;
using table = std::vector<std::pair<std::string, value>>;  // in the order of the file

struct value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, list, table> is;

  value() = default;
  value(bool v) : is(v) {}
  value(int v) : is(std::int64_t{v}) {}
  value(unsigned v) : is(std::int64_t{v}) {}
  value(std::int64_t v) : is(v) {}
  value(double v) : is(v) {}
  value(const char* v) : is(std::string(v)) {}
  value(std::string v) : is(std::move(v)) {}
  value(list v) : is(std::move(v)) {}
  value(table v) : is(std::move(v)) {}
  bool operator==(const value&) const = default;

  [[nodiscard]] bool none() const { return std::holds_alternative<std::monostate>(is); }
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&is);
  }
};

// The values of a table whose keys have been checked, in the simulator's units, by key.
using values = std::map<std::string, value, std::less<>>;

// A value in an error message: text is quoted, and shortened to fit a line.
[[nodiscard]] std::string shown(const value& v);
// The same without quotes, for tables of keys.
[[nodiscard]] std::string plain(const value& v);

[[nodiscard]] value list_of(const std::vector<std::int64_t>& numbers);
// The numbers of a list of integers; a single one stands for a list of one.
[[nodiscard]] std::vector<std::int64_t> numbers_of(const value& v);

// The value of a key of a table; null if the table has no such key.
[[nodiscard]] const value* find(const table& in, std::string_view name);

}  // namespace lull::netsim
