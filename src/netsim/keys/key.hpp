// A key of a simulation's file, declared once, beside the code that reads it. From the declaration follow the check of
// a user's value, its default, what `lull simulate --explain` and `lull topology` print, and the reference.
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

inline constexpr double most_number = 1LL << 53;  // the largest whole number a key may have

enum class kind : std::uint8_t { whole, time, size, rate, share, power, boolean, choice, text };

struct key {
  std::string name = {};
  std::string meaning = {};
  kind of = kind::whole;
  value by_default = {};       // as a user would write it; none: what `same_as` and `otherwise` say
  std::string same_as = {};    // the key of the same table whose value is the default
  std::string otherwise = {};  // the default in words, where it is no value: "when all is done"
  double least = 0;            // in the simulator's units
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;             // `least` itself is not allowed
  std::vector<std::string> words = {};  // choice: those allowed; whole: [0] stands for 0; list: instead of one
  std::vector<std::pair<std::string, std::vector<std::string>>> groups =
      {};                    // choice: of words, by a name in the plural
  bool list = false;         // of whole numbers; a single number stands for a list of one
  std::string unit = {};     // time: a name that the value of this key has as a unit of other keys: "2 Ts"
  std::string unit_of = {};  // time: the key that has such a name
  std::map<std::string, std::vector<std::string>> only =
      {};  // keys of the same table, the values at which this applies

  bool operator==(const key&) const = default;
  [[nodiscard]] std::string allowed_in_words() const;
  [[nodiscard]] std::string default_in_words() const;
};

// Where in a file a value stands; begins its errors: "read net.toml: power.hold is ...".
struct position {
  std::string asked;
  std::string path = {};
  [[nodiscard]] position in(const std::string& name) const;
  // Throws lull::usage_error: "asked: path.name found; fix".
  [[noreturn]] void mistake(const std::string& name, const std::string& found, const std::string& fix) const;
};

// The value of `k` in the simulator's units. Throws lull::usage_error, naming the key, what was found, what is allowed.
[[nodiscard]] value checked(const key& k, const value& given, const position& at);

// A checked value as a user could have written it.
[[nodiscard]] value as_written(const key& k, const value& checked);

// What answers a name that is not there: "did you mean X?", or all there are.
[[nodiscard]] std::string nearest(const std::string& wrong, const std::vector<std::string>& right);
// The same of a word that must be one of several; a wrong type is told all of them.
[[nodiscard]] std::vector<std::string> names_of(std::span<const key> keys);
[[nodiscard]] const key* find(std::span<const key> keys, std::string_view name);

// Values by the names of their keys; those that nobody gave have the default that is declared.
class reader {
 public:
  reader(std::span<const key> keys, const values& given) : keys_(keys), given_(given) {}
  [[nodiscard]] std::int64_t whole(const char* name) const { return std::get<std::int64_t>(at(name).is); }
  [[nodiscard]] double real(const char* name) const { return std::get<double>(at(name).is); }
  [[nodiscard]] bool flag(const char* name) const { return std::get<bool>(at(name).is); }
  [[nodiscard]] std::string word(const char* name) const { return std::get<std::string>(at(name).is); }
  // Empty where there is none.
  [[nodiscard]] std::vector<std::int64_t> numbers(const char* name) const;
  [[nodiscard]] bool has(const char* name) const { return !at(name).none(); }

 private:
  [[nodiscard]] value at(const char* name) const;
  std::span<const key> keys_;
  const values& given_;
};

}  // namespace lull::netsim
