// A key of a simulation's file, declared once, next to the code that reads it. The declaration determines the check of
// a user's value, its default, the output of `lull simulate --keys` and `lull topology`, and the reference.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "netsim/keys/quantity.hpp"
#include "netsim/keys/value.hpp"

namespace lull::netsim {

inline constexpr double most_number = 1LL << 53;  // the largest integer that a key can have

enum class kind : std::uint8_t { whole, time, size, rate, share, power, boolean, choice, text };

struct key {
  std::string name = {};
  std::string meaning = {};
  kind of = kind::whole;
  value by_default = {};       // as a user would write it; none: see `same_as` and `otherwise`
  std::string same_as = {};    // the key of the same table whose value is the default
  std::string otherwise = {};  // the default in words, if it is no value: "when all is done"
  double least = 0;            // in the simulator's units
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;             // `least` itself is not allowed
  std::vector<std::string> words = {};  // choice: the allowed ones; whole: [0] means 0; list: used in place of a list
  std::vector<std::pair<std::string, std::vector<std::string>>> groups = {};  // choice: words by a plural name
  bool list = false;         // of integers; a single number stands for a list of one
  std::string unit = {};     // time: other keys may use its value as a unit of this name: "2 Ts"
  std::string unit_of = {};  // time: the key that defines such a unit
  std::map<std::string, std::vector<std::string>> only = {};  // other keys, and their values for which this applies

  bool operator==(const key&) const = default;
  [[nodiscard]] std::string allowed_in_words() const;
  [[nodiscard]] std::string default_in_words() const;
};

// Where in a file a value is; it starts the error messages: "read net.toml: power.hold is ...".
struct position {
  std::string asked;
  std::string path = {};
  [[nodiscard]] position in(const std::string& name) const;
  // Throws lull::usage_error: "asked: path.name found; fix".
  [[noreturn]] void mistake(const std::string& name, const std::string& found, const std::string& fix) const;
};

// The value of `k` in the simulator's units. Throws lull::usage_error that names the key, its value and the allowed
// values.
[[nodiscard]] value checked(const key& k, const value& given, const position& at);

// A checked value as a user could have written it.
[[nodiscard]] value as_written(const key& k, const value& checked);

// The hint for an unknown name: "did you mean X?", or all known names.
[[nodiscard]] std::string nearest(const std::string& wrong, const std::vector<std::string>& right);
// The hint for a word that must be one of several; for a wrong type it lists all of them.
[[nodiscard]] std::vector<std::string> names_of(std::span<const key> keys);
[[nodiscard]] const key* find(std::span<const key> keys, std::string_view name);

// Values by the names of their keys; a key that was not given has its declared default.
class reader {
 public:
  reader(std::span<const key> keys, const values& given) : keys_(keys), given_(given) {}
  [[nodiscard]] std::int64_t whole(const char* name) const { return std::get<std::int64_t>(at(name).is); }
  [[nodiscard]] double real(const char* name) const { return std::get<double>(at(name).is); }
  [[nodiscard]] bool flag(const char* name) const { return std::get<bool>(at(name).is); }
  [[nodiscard]] std::string word(const char* name) const { return std::get<std::string>(at(name).is); }
  // Empty if there is none.
  [[nodiscard]] std::vector<std::int64_t> numbers(const char* name) const;
  [[nodiscard]] bool has(const char* name) const { return !at(name).none(); }

 private:
  [[nodiscard]] value at(const char* name) const;
  std::span<const key> keys_;
  const values& given_;
};

}  // namespace lull::netsim
