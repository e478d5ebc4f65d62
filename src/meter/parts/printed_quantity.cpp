#include "meter/parts/printed_quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace lull::meter {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
constexpr std::size_t longest_shown = 60;

struct unit_word {
  std::string_view word;
  answer_in unit;
  double factor;
};
// "mw" is ambiguous (milli or mega) and therefore not accepted.
constexpr std::array units{unit_word{"W", answer_in::watts, 1},
                           unit_word{"w", answer_in::watts, 1},
                           unit_word{"Watt", answer_in::watts, 1},
                           unit_word{"watt", answer_in::watts, 1},
                           unit_word{"Watts", answer_in::watts, 1},
                           unit_word{"watts", answer_in::watts, 1},
                           unit_word{"WATTS", answer_in::watts, 1},
                           unit_word{"mW", answer_in::watts, 1e-3},
                           unit_word{"kW", answer_in::watts, 1e3},
                           unit_word{"KW", answer_in::watts, 1e3},
                           unit_word{"kw", answer_in::watts, 1e3},
                           unit_word{"MW", answer_in::watts, 1e6},
                           unit_word{"Wh", answer_in::watt_hours, 1},
                           unit_word{"WH", answer_in::watt_hours, 1},
                           unit_word{"wh", answer_in::watt_hours, 1},
                           unit_word{"mWh", answer_in::watt_hours, 1e-3},
                           unit_word{"kWh", answer_in::watt_hours, 1e3},
                           unit_word{"KWH", answer_in::watt_hours, 1e3},
                           unit_word{"kwh", answer_in::watt_hours, 1e3},
                           unit_word{"MWh", answer_in::watt_hours, 1e6},
                           unit_word{"J", answer_in::watt_hours, 1 / 3600.0},
                           unit_word{"kJ", answer_in::watt_hours, 1 / 3.6},
                           unit_word{"MJ", answer_in::watt_hours, 1 / 3.6e-3}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) + 1 - from);
}

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? trimmed(text.substr(1, text.size() - 2))
                                                                       : text;
}

std::string_view words(answer_in unit) { return unit == answer_in::watts ? "power" : "energy"; }

// The digits at the beginning of `text` without the commas between thousands, and their length including them; none if
// commas separate anything else. Includes a fraction, an exponent and a sign.
struct digits_read {
  std::string digits;
  std::size_t length = 0;
};

std::optional<digits_read> digits_at_begin_of(std::string_view text) {
  digits_read found;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    if (text[at] == '-') found.digits = "-";
    ++at;
  }
  const std::size_t first = at;
  std::size_t in_group = 0;
  bool parted = false;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == ','); ++at) {
    if (is_digit(text[at])) {
      found.digits += text[at];
      ++in_group;
      continue;
    }
    if (in_group == 0 || in_group > 3 || (parted && in_group != 3)) return std::nullopt;
    parted = true;
    in_group = 0;
  }
  if (parted && in_group != 3) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    found.digits += text[at++];
    for (; at < text.size() && is_digit(text[at]); ++at) found.digits += text[at];
  }
  if (std::none_of(text.begin() + static_cast<std::ptrdiff_t>(first), text.begin() + static_cast<std::ptrdiff_t>(at),
                   is_digit))
    return std::nullopt;
  if (at + 1 < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t end = at + 1;
    if (text[end] == '+' || text[end] == '-') ++end;
    const std::size_t power = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > power) {
      found.digits += text.substr(at, end - at);
      at = end;
    }
  }
  found.length = at;
  return found;
}

// Words with which a tool reports a failure although it exits with 0.
bool tells_of_failure(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  static constexpr std::array all{"error",   "fail",      "timeout",     "timed out", "no such",
                                  "refused", "denied",    "unavailable", "unknown",   "invalid",
                                  "unable",  "not found", "no resp",     "not avail", "n/a"};
  return std::ranges::any_of(all, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// The position after the last '=' or ':'; a colon between two digits is part of a time of day.
std::size_t end_of_label(std::string_view line) {
  for (std::size_t at = line.size(); at-- > 0;) {
    if (line[at] == '=') return at + 1;
    if (line[at] == ':' && !(at > 0 && is_digit(line[at - 1]) && at + 1 < line.size() && is_digit(line[at + 1])))
      return at + 1;
  }
  return 0;
}

}  // namespace

std::optional<double> factor_of(std::string_view word, answer_in unit) {
  if (word.empty()) return 1;
  const auto found = std::ranges::find_if(units, [&](const unit_word& u) { return u.word == word && u.unit == unit; });
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

meter_answer quantity_of(std::string_view text, answer_in unit) {
  const std::string_view whole = without_quotes(text);
  const auto nothing = [&](std::string_view why) {
    return meter_answer{{}, fmt::format("{} is not a reading of {}: {}", shown(text), words(unit), why)};
  };
  const auto digits = digits_at_begin_of(whole);
  if (!digits) return nothing("it does not begin with a number");
  double number = 0;
  const char* const end = digits->digits.data() + digits->digits.size();
  if (const auto read = std::from_chars(digits->digits.data(), end, number);
      read.ec != std::errc{} || read.ptr != end || !std::isfinite(number))
    return nothing("its number cannot be read");
  const std::string_view word = trimmed(whole.substr(digits->length));
  if (const auto factor = factor_of(word, unit)) return {number * *factor};
  const answer_in other = unit == answer_in::watts ? answer_in::watt_hours : answer_in::watts;
  if (factor_of(word, other)) return nothing(fmt::format("{} is a unit of {}", word, words(other)));
  if (std::ranges::any_of(word, is_digit)) return nothing("it contains more than one number");
  return nothing(fmt::format("{} is not a known unit", shown(word)));
}

meter_answer quantity_at_end_of(std::string_view output, answer_in unit) {
  const std::string_view all = trimmed(output);
  if (all.empty()) return {{}, "the answer is empty"};
  const auto line_end = all.find_last_of("\r\n");
  const std::string_view line = trimmed(line_end == std::string_view::npos ? all : all.substr(line_end + 1));
  if (tells_of_failure(line)) return {{}, fmt::format("the answer is {}", shown(line))};
  return quantity_of(line.substr(end_of_label(line)), unit);
}

std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xc2 && byte < 0xe0 ? 2
                               : byte >= 0xe0 && byte < 0xf0 ? 3
                               : byte >= 0xf0 && byte < 0xf5 ? 4
                                                             : 0;
    bool whole = length > 0 && at + length <= text.size();
    for (std::size_t i = 1; whole && i < length; ++i)
      whole = (static_cast<unsigned char>(text[at + i]) & 0xc0U) == 0x80;
    if (whole && length > 2) {  // neither overlong, nor half of a surrogate pair, nor beyond the last one
      const auto second = static_cast<unsigned char>(text[at + 1]);
      whole = !(byte == 0xe0 && second < 0xa0) && !(byte == 0xed && second >= 0xa0) &&
              !(byte == 0xf0 && second < 0x90) && !(byte == 0xf4 && second >= 0x90);
    }
    if (whole) {
      result += text.substr(at, length);
      at += length;
    } else {
      result += static_cast<char>(0xc0U | (byte >> 6U));
      result += static_cast<char>(0x80U | (byte & 0x3fU));
      ++at;
    }
  }
  return result;
}

std::string shown(std::string_view text) {
  std::string line = as_utf8(trimmed(text));
  std::ranges::replace_if(
      line, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }, ' ');
  if (line.size() > longest_shown) {
    std::size_t end = longest_shown;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80) --end;
    line = line.substr(0, end) + "...";
  }
  return "'" + line + "'";
}

}  // namespace lull::meter
