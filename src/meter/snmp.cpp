// A power distribution unit or any other meter that a command can ask: the last number it prints counts.
//
// Every vendor has a management table (MIB) of its own, so the site names the command, e.g. snmpget with the outlet of
// this node, and whether the number is watts or watt-hours (LULL_SNMP_UNIT). Such meters often show averages of ten
// seconds: a last resort for long runs.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/settings.hpp"
#include "meter/polled_meter.hpp"

namespace lull::meter {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

meter_answer parse(const std::string& output) {
  auto end = std::find_if(output.rbegin(), output.rend(), is_digit).base();
  auto begin = std::find_if_not(std::reverse_iterator(end), output.rend(), [](char c) {
                 return is_digit(c) || c == '.';
               }).base();
  if (begin != output.begin() && *(begin - 1) == '-') --begin;
  double number = 0;
  const std::string digits(begin, end);
  if (digits.empty() || std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{})
    return {{}, "there is no number in its answer", ""};
  return {number, "", ""};
}

}  // namespace

std::unique_ptr<source> make_snmp(const sysroot& root) {
  const bool watts = setting_text("LULL_SNMP_UNIT") == "W";
  const command_meter meter{.name = "snmp",
                            .command = setting_text("LULL_SNMP_COMMAND"),
                            .unit = watts ? answer_in::watts : answer_in::watt_hours,
                            .basis = watts ? "power at the node's outlet" : "energy counted at the node's outlet",
                            .permission = "what the command needs",
                            .parse = parse};
  if (meter.command.empty())
    return make_absent_meter(meter, {false, "LULL_SNMP_COMMAND does not name a command",
                                     "export LULL_SNMP_COMMAND='snmpget -v2c -c COMMUNITY -Oqv PDU OUTLET'"});
  return make_command_meter(meter, root);
}

}  // namespace lull::meter
