// Parses a power or an energy from the output of a tool or a controller: exactly one number, with an optional unit.
//
//   "430", "430 Watts", "0.43 kW", "430000 mW", "1,234 W"      a number: commas may only separate thousands
//   "Gauge32: 430", "OID = INTEGER: 430", "outlet 3: 430 W"     a label: everything up to the last '=' or ':'
//
// Anything else is rejected: two numbers, a unit of another quantity, an error message. A wrong guess would be recorded
// as a measurement; a rejected answer is a gap.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace lull::meter {

struct meter_answer {
  std::optional<double> number;
  std::string failure = {};  // one line, if there is no number
  std::string fix = {};      // a fix in one line, if known
};

enum class answer_in { watts, watt_hours };

// The quantity in `text`, in watts or watt-hours.
[[nodiscard]] meter_answer quantity_of(std::string_view text, answer_in unit);
// The quantity at the end of the last non-empty line of `output`.
[[nodiscard]] meter_answer quantity_at_end_of(std::string_view output, answer_in unit);

// The factor of a unit: 0.001 for "mW"; none if it is no unit of this quantity. An empty word is the unit itself.
[[nodiscard]] std::optional<double> factor_of(std::string_view word, answer_in unit);

// `text` as UTF-8: bytes that are not UTF-8 are interpreted as Latin-1.
[[nodiscard]] std::string as_utf8(std::string_view text);
// `text` in quotes for a message, on one line and shortened.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace lull::meter
