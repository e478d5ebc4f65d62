// A power distribution unit or any other meter that a command can read: the value is the end of the command's last
// line.
//
// Every vendor has a different management table (MIB), so the site names the command, e.g. snmpget with the outlet of
// this node, and whether the number is watts or watt-hours (LULL_SNMP_UNIT). Such meters often show averages over ten
// seconds, so they are a last resort for long runs.
#include "base/settings.hpp"
#include "meter/parts/polled_meter.hpp"

namespace lull::meter {
std::unique_ptr<source> make_snmp(const sysroot& root) {
  const bool watts = setting_text("LULL_SNMP_UNIT") == "W";
  const answer_in unit = watts ? answer_in::watts : answer_in::watt_hours;
  const command_meter meter{.name = "snmp",
                            .command = setting_text("LULL_SNMP_COMMAND"),
                            .scale = "LULL_SNMP_SCALE",
                            .unit = unit,
                            .basis = watts ? "power at the node's outlet" : "energy counted at the node's outlet",
                            .permission = "what the command needs",
                            .asked_for = setting_is_set("LULL_SNMP_COMMAND"),
                            .parse = [unit](const std::string& output) { return quantity_at_end_of(output, unit); }};
  if (meter.command.empty())
    return make_absent_meter(meter, {false, "LULL_SNMP_COMMAND does not name a command",
                                     "export LULL_SNMP_COMMAND='snmpget -v2c -c COMMUNITY -Oqv PDU OUTLET'"});
  return make_command_meter(meter, root);
}

}  // namespace lull::meter
