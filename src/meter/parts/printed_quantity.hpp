// A power or an energy out of what a tool or a controller printed: exactly one number, with its unit if it has one.
//
//   "430", "430 Watts", "0.43 kW", "430000 mW", "1,234 W"      a number: commas may part thousands, nothing else
//   "Gauge32: 430", "OID = INTEGER: 430", "outlet 3: 430 W"     what is before the last '=' or ':' is a label
//
// Anything else is no quantity: two numbers, a unit of something else, an error in words. A wrong guess would be recorded as
// a measurement; a refusal is a gap.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace lull::meter {

struct meter_answer {
  std::optional<double> number;
  std::string failure = {};  // one line, when there is no number
  std::string fix = {};      // what to do, in one line, if known
};

enum class answer_in { watts, watt_hours };

// The quantity that `text` is, in whole watts or watt-hours.
[[nodiscard]] meter_answer quantity_of(std::string_view text, answer_in unit);
// The quantity that the last line of `output` with anything in it ends with.
[[nodiscard]] meter_answer quantity_at_end_of(std::string_view output, answer_in unit);

// What is worth a unit: 0.001 for "mW"; nothing where it is no unit of this kind. An empty one is the unit itself.
[[nodiscard]] std::optional<double> factor_of(std::string_view word, answer_in unit);

// `text` as UTF-8: bytes that are none are taken for Latin-1.
[[nodiscard]] std::string as_utf8(std::string_view text);
// `text` in quotes for a message, in one line and not too long.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace lull::meter
