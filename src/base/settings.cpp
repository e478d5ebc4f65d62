#include "base/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "settings_tables.hpp"  // generated: the table of each room

namespace lull {
namespace {

constexpr auto& table = settings_tables;

const setting& find(std::string_view variable) {
  const auto found = std::ranges::find_if(table, [&](const setting& s) { return variable == s.variable; });
  if (found == table.end())
    throw usage_error("read setting " + std::string(variable), "there is no such setting",
                      "lull settings lists all settings");
  return *found;
}

[[noreturn]] void refuse(const setting& s, const std::string& text, const std::string& wanted) {
  throw usage_error("read setting " + std::string(s.variable), "'" + text + "' is not " + wanted,
                    "unset it for the default, " + std::string(*s.default_value ? s.default_value : "none"));
}

template <class Number>
Number number_in_range(const setting& s, const std::string& text, const char* wanted) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) refuse(s, text, wanted);
  const std::string_view range = s.choices;
  const auto dots = range.find("..");
  Number low{}, high{};
  std::from_chars(range.data(), range.data() + dots, low);
  std::from_chars(range.data() + dots + 2, range.data() + range.size(), high);
  if (!(value >= low && value <= high)) refuse(s, text, "in the range " + std::string(range));
  return value;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

std::span<const setting> all_settings() { return table; }

const char* given(const setting& s) {
  const char* text = variable_of_environment(s.variable);
  constexpr std::string_view prefix = "SHMEM_";
  const std::string_view name = s.variable;
  if ((!text || !*text) && name.starts_with(prefix)) {
    const std::string old_name = "SMA_" + std::string(name.substr(prefix.size()));
    text = variable_of_environment(old_name.c_str());
  }
  return text && *text ? text : nullptr;
}

std::string setting_text(std::string_view variable) {
  const setting& s = find(variable);
  const char* const text = given(s);
  std::string value = text ? text : s.default_value;
  if (s.type == setting_type::choice) {
    const std::string all = "|" + std::string(s.choices) + "|";
    if (value.find('|') != std::string::npos || all.find("|" + value + "|") == std::string::npos)
      refuse(s, value, "one of " + std::string(s.choices));
  }
  return value;
}

bool setting_is_set(std::string_view variable) { return given(find(variable)) != nullptr; }

std::int64_t setting_integer(std::string_view variable) {
  return number_in_range<std::int64_t>(find(variable), setting_text(variable), "a whole number");
}

double setting_real(std::string_view variable) {
  return number_in_range<double>(find(variable), setting_text(variable), "a number");
}

std::size_t setting_size(std::string_view variable) {
  const std::string text = setting_text(variable);
  try {
    return parse_size(text);
  } catch (const error&) {
    refuse(find(variable), text, "a size such as 65536, 64K, 16M or 1.5G");
  }
}

void check_setting(const setting& row) {
  switch (row.type) {
    case setting_type::integer:
      (void)setting_integer(row.variable);
      break;
    case setting_type::real:
      (void)setting_real(row.variable);
      break;
    case setting_type::size:
      (void)setting_size(row.variable);
      break;
    case setting_type::text:
    case setting_type::choice:
      (void)setting_text(row.variable);
      break;
  }
}

std::size_t parse_size(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.ends_with('B') || suffix.ends_with('b')) suffix.remove_suffix(1);
  if (suffix.ends_with('i')) suffix.remove_suffix(1);
  static constexpr std::string_view steps = "KMGT";
  int exponent = 0;
  if (suffix.size() == 1) {
    const auto at = steps.find(static_cast<char>(suffix[0] & ~0x20));
    exponent = at == std::string_view::npos ? -1 : 10 * (static_cast<int>(at) + 1);
  } else if (!suffix.empty()) {
    exponent = -1;
  }
  const double bytes = std::ldexp(value, exponent);
  if (status != std::errc{} || exponent < 0 || !(bytes >= 0 && bytes < 0x1p63))
    throw error("read a size", "'" + std::string(text) + "' is not one", "write 65536, 64K, 16M or 1.5G");
  return static_cast<std::size_t>(std::ceil(bytes));  // OpenSHMEM: never less than requested
}

std::vector<unknown_variable> unknown_variables() {
  std::vector<unknown_variable> unknown;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("LULL_")) continue;
    if (std::ranges::any_of(table, [&](const setting& s) { return name == s.variable; })) continue;
    const auto nearest =
        std::ranges::min_element(table, {}, [&](const setting& s) { return edit_distance(name, s.variable); });
    unknown.push_back({std::string(name), nearest->variable});
  }
  std::ranges::sort(unknown, {}, &unknown_variable::variable);
  return unknown;
}

}  // namespace lull
