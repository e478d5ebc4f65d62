// The power of the whole node as its management controller measures it (IPMI DCMI), read with ipmitool.
//
// `ipmitool dcmi power reading` (raw 0x2c 0x02 0xdc 0x01 0 0) prints the present power, and whether readings are
// activated; if they are not, the numbers mean nothing. It takes a good part of a second, so a thread runs it. The
// source is used only if the kernel shows the controller's device, unless LULL_IPMI_COMMAND names another command (for
// a remote controller: `ipmitool -H bmc -f password-file dcmi power reading`).
#include <algorithm>
#include <array>

#include "base/settings.hpp"
#include "meter/parts/polled_meter.hpp"

namespace lull::meter {
namespace {

// The text after `key`, up to the end of its line; empty if there is none.
std::string_view behind(std::string_view output, std::string_view key) {
  const auto at = output.find(key);
  if (at == std::string_view::npos) return {};
  const auto from = std::min(output.find_first_not_of(" \t", at + key.size()), output.size());
  return output.substr(from, output.find('\n', from) - from);
}

meter_answer parse(const std::string& output) {
  const std::string_view state = behind(output, "Power reading state is:");
  if (!state.starts_with("activated"))
    return {{}, "the controller's power reading is " + (state.empty() ? std::string("not there") : as_utf8(state))};
  const std::string_view power = behind(output, "Instantaneous power reading:");
  if (power.empty()) return {{}, "its answer contains no instantaneous power reading"};
  return quantity_of(power, answer_in::watts);
}

}  // namespace

std::unique_ptr<source> make_ipmi(const sysroot& root) {
  const command_meter meter{.name = "ipmi",
                            .command = setting_text("LULL_IPMI_COMMAND"),
                            .scale = "LULL_IPMI_SCALE",
                            .unit = answer_in::watts,
                            .basis = "instantaneous power of the node (IPMI DCMI)",
                            .permission = "root, or /dev/ipmi0 made readable and writable; ipmitool",
                            .asked_for = setting_is_set("LULL_IPMI_COMMAND"),
                            .parse = parse};
  static constexpr std::array devices{"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"};
  if (!meter.asked_for) {
    if (std::ranges::none_of(devices, [&](const char* device) { return root.exists(device); }))
      return make_absent_meter(meter, {false, "there is no /dev/ipmi0 here", ""});
    if (!root.is_this_machine())
      return make_absent_meter(meter, {false, "the controller of another machine cannot be read", ""});
  }
  return make_command_meter(meter, root);
}

}  // namespace lull::meter
