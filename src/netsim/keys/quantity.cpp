#include "netsim/keys/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

namespace lull::netsim {
namespace {

__extension__ using wide = unsigned __int128;
constexpr wide most_wide = ~wide{0};

constexpr unit units_of_time[] = {{"s", 12, 0}, {"ms", 9, 0}, {"us", 6, 0}, {"µs", 6, 0},
                                  {"μs", 6, 0}, {"ns", 3, 0}, {"ps", 0, 0}};
constexpr unit units_of_size[] = {{"B", 0, 0},    {"kB", 3, 0},   {"MB", 6, 0},   {"GB", 9, 0}, {"TB", 12, 0},
                                  {"KiB", 0, 10}, {"MiB", 0, 20}, {"GiB", 0, 30}, {"KB", 3, 0}};
constexpr unit units_of_rate[] = {
    {"bit/s", 0, -3}, {"kbit/s", 3, -3}, {"Mbit/s", 6, -3}, {"Gbit/s", 9, -3}, {"Tbit/s", 12, -3}, {"kbps", 3, -3},
    {"Mbps", 6, -3},  {"Gbps", 9, -3},   {"Tbps", 12, -3},  {"B/s", 0, 0},     {"kB/s", 3, 0},     {"MB/s", 6, 0},
    {"GB/s", 9, 0},   {"TB/s", 12, 0},   {"KiB/s", 0, 10},  {"MiB/s", 0, 20},  {"GiB/s", 0, 30},   {"KB/s", 3, 0}};
constexpr unit units_of_share[] = {{"", 0, 0}, {"%", -2, 0}};
constexpr unit units_of_power[] = {{"W", 0, 0}, {"mW", -3, 0}};

// digits x 10^ten; digits after the 19th are cut off.
struct decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  int ten = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// Removes a number from the front of `text`: digits, which _ may group, a point, an exponent.
std::optional<decimal> take_number(std::string_view& text) {
  decimal d;
  std::size_t at = 0;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) d.negative = text[at++] == '-';
  bool any = false;
  bool behind_point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (is_digit(c)) {
      any = true;
      const bool room = d.digits < 1'000'000'000'000'000'000U;
      if (room) d.digits = d.digits * 10 + static_cast<std::uint64_t>(c - '0');
      d.ten += (room ? 0 : 1) - (behind_point ? 1 : 0);
    } else if (c == '.' && !behind_point) {
      behind_point = true;
    } else if (c != '_' || !any) {
      break;
    }
  }
  if (!any) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t from = at + 1;
    if (from < text.size() && text[from] == '+') ++from;
    int ten = 0;
    const auto [end, failed] = std::from_chars(text.data() + from, text.data() + text.size(), ten);
    if (failed == std::errc{} && std::abs(ten) < 10'000) {
      d.ten += ten;
      at = static_cast<std::size_t>(end - text.data());
    }
  }
  text.remove_prefix(at);
  return d;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

decimal decimal_of(const std::string& digits) {
  std::string_view text = digits;
  return *take_number(text);
}

// digits x 10^ten x 2^two, rounded to the nearest integer (half to even), at most most_wide.
wide rounded(std::uint64_t digits, int ten, int two) {
  wide n = digits;
  if (n == 0) return 0;
  for (; two > 0; --two) n *= 2;  // at most 30
  for (; ten > 0; --ten) {
    if (n > most_wide / 10) return most_wide;
    n *= 10;
  }
  if (ten < -38) return 0;
  wide divisor = 1;
  for (; ten < 0; ++ten) divisor *= 10;
  const wide whole = n / divisor;
  const wide rest = n % divisor;
  const bool up = rest > divisor - rest || (rest == divisor - rest && whole % 2 == 1);
  return whole + (up ? 1 : 0);
}

value amount_of(const quantity& of, const decimal& d, const unit& in) {
  if (of.whole) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const wide n = rounded(d.digits, d.ten + in.ten, in.two);
    const std::int64_t amount = n > static_cast<wide>(most) ? most : static_cast<std::int64_t>(n);
    return d.negative ? -amount : amount;
  }
  const double amount = std::strtod(fmt::format("{}e{}", d.digits, d.ten + in.ten).c_str(), nullptr);
  return (d.negative ? -1 : 1) * std::ldexp(amount, in.two);
}

// An amount in a unit, without exponent, if it is at least 1 (or 0) and needs at most nine decimal places.
std::optional<std::string> in_unit(const decimal& d, const unit& u) {
  wide n = d.digits;
  int ten = d.ten + 9 - u.ten;
  for (; n != 0 && ten > 0; --ten) {
    if (n > most_wide / 10) return std::nullopt;
    n *= 10;
  }
  for (int two = u.two; two < 0; ++two) n *= 2;  // at most 8 times
  for (int two = u.two; two > 0; --two, n /= 2)
    if (n % 2 != 0) return std::nullopt;
  for (; n != 0 && ten < 0; ++ten, n /= 10)
    if (n % 10 != 0) return std::nullopt;
  constexpr wide billion = 1'000'000'000;
  if (n != 0 && n < billion) return std::nullopt;
  if (n / billion > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  std::string text =
      fmt::format("{}.{:09}", static_cast<std::uint64_t>(n / billion), static_cast<std::uint64_t>(n % billion));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

const quantity time_quantity{"a time", units_of_time, "s", true, "\"1.1 us\""};
const quantity size_quantity{"a size", units_of_size, "B", true, "\"4 KiB\""};
const quantity rate_quantity{"a rate", units_of_rate, "B/s", false, "\"100 Gbit/s\""};
const quantity share_quantity{"a share", units_of_share, "", false, "\"1 %\" or 0.01"};
const quantity power_quantity{"a power", units_of_power, "W", false, "\"1.5 W\""};

value parse(const quantity& of, const value& given) {
  const std::string must = fmt::format("must be {} such as {}", of.name, of.example);
  std::string written;
  if (const auto* whole = given.as<std::int64_t>())
    written = fmt::format("{}", *whole);
  else if (const auto* real = given.as<double>(); real != nullptr && std::isfinite(*real))
    written = fmt::format("{}", *real);
  else if (const auto* text = given.as<std::string>())
    written = *text;
  std::string_view rest = trimmed(written);
  const std::optional<decimal> number = take_number(rest);
  if (!number) throw not_a_quantity(must);
  const std::string_view name = trimmed(rest).empty() ? of.plain : trimmed(rest);
  const auto found = std::ranges::find(of.units, name, [](const unit& u) { return std::string_view(u.name); });
  if (found != of.units.end()) return amount_of(of, *number, *found);
  std::string known;
  for (const unit& u : of.units)
    if (is_ascii(u.name) && std::string_view(u.name) != "KB")
      known += (known.empty() ? "" : ", ") + std::string(u.name);
  throw not_a_quantity(fmt::format("{}, in {}", must, known));
}

std::string show(const quantity& of, const value& amount) {
  const std::string written = plain(amount);
  const decimal d = decimal_of(written);
  std::string best;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const unit& u : of.units) {
    const auto text = in_unit(d, u);
    if (!text || !is_ascii(u.name) || text->size() >= shortest) continue;
    shortest = text->size();
    best = fmt::format("{} {}", *text, u.name);
  }
  return best.empty() ? written : best;
}

}  // namespace lull::netsim
