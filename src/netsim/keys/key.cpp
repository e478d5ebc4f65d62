#include "netsim/keys/key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"

namespace lull::netsim {
namespace {

const quantity* quantity_of(kind of) {
  switch (of) {
    case kind::time:
      return &time_quantity;
    case kind::size:
      return &size_quantity;
    case kind::rate:
      return &rate_quantity;
    case kind::share:
      return &share_quantity;
    case kind::power:
      return &power_quantity;
    default:
      return nullptr;
  }
}

// A bound of a range, with the unit.
std::string bound_in_words(const quantity& of, double bound) {
  if (*of.plain == '\0') return fmt::format("{:g}", bound);
  return show(of, of.whole ? value(static_cast<std::int64_t>(bound)) : value(bound));
}

std::string least_in_words(const quantity& of, const key& k) {
  const std::string least = k.least == 0 ? "0" : bound_in_words(of, k.least);
  return k.above_least ? fmt::format("more than {}", least) : fmt::format("{} or more", least);
}

std::string range_in_words(const key& k) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (std::isinf(k.most)) return fmt::format("{:.0f} or more", k.least);
  return fmt::format("{:.0f} to {}", k.least, k.most < 0x1p63 ? static_cast<std::int64_t>(k.most) : most);
}

// "a, b or c".
std::string any_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

bool in_range(const key& k, const value& v) {
  const auto* whole = v.as<std::int64_t>();
  return whole != nullptr && static_cast<double>(*whole) >= k.least && static_cast<double>(*whole) <= k.most;
}

// The share of letters that two words have in common in the same order: 1 if they are equal.
double likeness(const std::string& a, const std::string& b) {
  std::vector<std::size_t> common(b.size() + 1);  // with the first letters of b and the letters of a so far
  for (const char letter : a) {
    std::size_t before = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t extended = letter == b[j - 1] ? before + 1 : std::max(common[j], common[j - 1]);
      before = std::exchange(common[j], extended);
    }
  }
  return 2.0 * static_cast<double>(common.back()) / static_cast<double>(a.size() + b.size());
}

// The word that the user probably meant, or none.
std::string near(const std::string& wrong, const std::vector<std::string>& right) {
  constexpr double likely = 0.6;
  const auto like = [&](const std::string& known) { return likeness(wrong, known); };
  const auto found = std::ranges::max_element(right, {}, like);
  return found == right.end() || like(*found) < likely ? "" : *found;
}

// The amount of a quantity in its range. Throws if it is out of range.
value amount(const key& k, const quantity& of, const value& given) {
  value v = parse(of, given);
  const double number = of.whole ? static_cast<double>(std::get<std::int64_t>(v.is)) : std::get<double>(v.is);
  if (number < k.least || (k.above_least && number == k.least))
    throw not_a_quantity(fmt::format("must be {}", least_in_words(of, k)));
  if (number > k.most) throw not_a_quantity(fmt::format("must be at most {}", bound_in_words(of, k.most)));
  return v;
}

value checked_list(const key& k, const value& given, const position& at) {
  const auto* many = given.as<list>();
  const list numbers = many != nullptr ? *many : list{given};
  if (!numbers.empty() && std::ranges::all_of(numbers, [&](const value& v) { return in_range(k, v); }))
    return {numbers};
  const auto* text = given.as<std::string>();
  if (text != nullptr && std::ranges::find(k.words, *text) != k.words.end()) return given;
  at.mistake(k.name, fmt::format("is {}", shown(given)), fmt::format("it must be {}", k.allowed_in_words()));
}

value checked_word(const key& k, const value& given, const position& at) {
  const auto* text = given.as<std::string>();
  if (text != nullptr && std::ranges::find(k.words, *text) != k.words.end()) return given;
  const std::string meant = text == nullptr ? "" : near(*text, k.words);
  at.mistake(
      k.name, fmt::format("is {}", shown(given)),
      fmt::format("it must be {}{}", any_of(k.words), meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

}  // namespace

std::string key::allowed_in_words() const {
  if (list) {
    if (!words.empty()) return fmt::format("{} or a list of nodes", fmt::join(words, ", "));
    return fmt::format("a whole number or a list of them, {}", range_in_words(*this));
  }
  switch (of) {
    case kind::whole:
      return (words.empty() ? "" : fmt::format("\"{}\" or ", words[0])) + "a whole number, " + range_in_words(*this);
    case kind::boolean:
      return "true or false";
    case kind::choice:
      return fmt::format("{}", fmt::join(words, ", "));
    case kind::text:
      return "a string";
    case kind::time:  // the end of the range is longer than any simulation
      return above_least ? "time, more than 0" : "time";
    default:
      break;
  }
  const quantity& q = *quantity_of(of);
  return fmt::format("{}, {}{}", q.name + 2, least_in_words(q, *this),
                     std::isinf(most) ? "" : fmt::format(", at most {}", bound_in_words(q, most)));
}

std::string key::default_in_words() const {
  if (!otherwise.empty()) return otherwise;
  if (!same_as.empty()) return same_as;
  const auto* many = by_default.as<netsim::list>();
  return many == nullptr ? plain(by_default) : fmt::format("{}", fmt::join(numbers_of(by_default), ", "));
}

position position::in(const std::string& name) const { return {asked, path.empty() ? name : path + "." + name}; }

void position::mistake(const std::string& name, const std::string& found, const std::string& fix) const {
  const std::string where = name.empty() ? path : in(name).path;
  throw usage_error(asked, where.empty() ? found : fmt::format("{} {}", where, found), fix);
}

value checked(const key& k, const value& given, const position& at) {
  const auto refuse = [&](const std::string& must) {
    at.mistake(k.name, fmt::format("is {}", shown(given)), fmt::format("it {}", must));
  };
  if (k.list) return checked_list(k, given, at);
  switch (k.of) {
    case kind::whole:
      if (!k.words.empty() && given == value(k.words[0])) return 0;
      if (!in_range(k, given)) refuse("must be " + k.allowed_in_words());
      return given;
    case kind::boolean:
      if (given.as<bool>() == nullptr) refuse("must be true or false");
      return given;
    case kind::choice:
      return checked_word(k, given, at);
    case kind::text:
      if (given.as<std::string>() == nullptr) refuse("must be a string");
      return given;
    default:
      break;
  }
  try {
    return amount(k, *quantity_of(k.of), given);
  } catch (const not_a_quantity& must) {
    refuse(must.what());
    throw;
  }
}

value as_written(const key& k, const value& checked) {
  if (k.of == kind::time || k.of == kind::size || k.of == kind::rate) return show(*quantity_of(k.of), checked);
  if (k.of == kind::whole && !k.list && !k.words.empty() && checked == value(0)) return k.words[0];
  return checked;
}

std::string nearest(const std::string& wrong, const std::vector<std::string>& right) {
  const std::string meant = near(wrong, right);
  return meant.empty() ? fmt::format("there are {}", fmt::join(right, ", ")) : fmt::format("did you mean {}?", meant);
}

std::vector<std::string> names_of(std::span<const key> keys) {
  std::vector<std::string> names;
  for (const key& k : keys) names.push_back(k.name);
  return names;
}

const key* find(std::span<const key> keys, std::string_view name) {
  const auto found = std::ranges::find_if(keys, [&](const key& k) { return name == k.name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::int64_t> reader::numbers(const char* name) const {
  const value v = at(name);
  return v.none() ? std::vector<std::int64_t>{} : numbers_of(v);
}

value reader::at(const char* name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const key* k = find(keys_, name);
  if (k == nullptr) throw std::logic_error(fmt::format("no table declares the key {}", name));
  if (!k->same_as.empty()) return at(k->same_as.c_str());
  return k->by_default.none() ? value() : checked(*k, k->by_default, {"read the default"});
}

}  // namespace lull::netsim
