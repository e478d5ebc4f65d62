#include "meter/parts/plausible_power.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::meter {
namespace {

constexpr std::string_view between = "..";

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_jump(double from, double to) {
  return to > from * plausible_power::most_jump || to * plausible_power::most_jump < from;
}

}  // namespace

watt_range plausible_watts_of_node() {
  const std::string text = setting_text("LULL_NODE_WATTS");
  const auto middle = text.find(between);
  if (middle != std::string::npos) {
    const auto low = number_in(std::string_view(text).substr(0, middle));
    const auto high = number_in(std::string_view(text).substr(middle + between.size()));
    if (low && high && *low >= 0 && *low < *high) return {*low, *high};
  }
  throw usage_error("read setting LULL_NODE_WATTS", fmt::format("'{}' is not a range", text),
                    "write LOW..HIGH, for example 1..20000");
}

std::string plausible_power::doubt(double watts) {
  if (!(watts >= range_.low && watts <= range_.high))
    return fmt::format("{:.6g} W is not a plausible power of a node, which is {:g} to {:g} W by LULL_NODE_WATTS", watts,
                       range_.low, range_.high);
  if (last_ > 0 && is_jump(last_, watts)) {
    jumps_ = jumps_ > 0 && !is_jump(jumped_to_, watts) ? jumps_ + 1 : 1;
    jumped_to_ = watts;
    if (jumps_ < lasting) return fmt::format("{:.6g} W after {:.6g} W is an implausible jump", watts, last_);
  }
  last_ = watts;
  jumps_ = 0;
  return {};
}

}  // namespace lull::meter
