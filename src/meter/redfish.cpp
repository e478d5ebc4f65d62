// The power of the whole node as its management controller shows it by Redfish: JSON over HTTPS, out of band.
//
// Two forms are known: Chassis/*/Power with PowerControl[].PowerConsumedWatts, and the newer EnvironmentMetrics with
// PowerWatts.Reading. The latter's EnergykWh counts in steps far too coarse for a job, so power is integrated. With
// LULL_REDFISH_URL curl asks, with the credentials in ~/.netrc; LULL_REDFISH_COMMAND replaces it by any command that
// prints the same JSON. (A command is kept in records: a password does not belong in it.)
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/settings.hpp"
#include "meter/polled_meter.hpp"

namespace lull::meter {
namespace {

using nlohmann::json;

// The number at `pointer`; nothing when there is none (a controller may say null).
std::optional<double> number_at(const json& answer, const char* pointer) {
  const json::json_pointer place(pointer);
  if (!answer.contains(place) || !answer[place].is_number()) return std::nullopt;
  return answer[place].get<double>();
}

meter_answer parse(const std::string& output) {
  const json answer = json::parse(output, nullptr, false);
  if (answer.is_discarded()) return {{}, "the answer is not JSON", ""};
  for (const char* place : {"/PowerWatts/Reading", "/PowerControl/0/PowerConsumedWatts"})
    if (const auto watts = number_at(answer, place)) return {watts, "", ""};
  if (const auto said = answer.value(json::json_pointer("/error/message"), std::string{}); !said.empty())
    return {{}, said, ""};
  return {{}, "neither PowerWatts.Reading nor PowerControl[0].PowerConsumedWatts is in the answer", ""};
}

// As one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

std::unique_ptr<source> make_redfish(const sysroot& root) {
  command_meter meter{.name = "redfish",
                      .command = setting_text("LULL_REDFISH_COMMAND"),
                      .unit = answer_in::watts,
                      .basis = "power of the node (Redfish)",
                      .permission = "an account on the management controller, in ~/.netrc",
                      .parse = parse};
  if (meter.command.empty()) {
    const std::string url = setting_text("LULL_REDFISH_URL");
    if (url.empty())
      return make_absent_meter(meter, {false, "LULL_REDFISH_URL does not name a controller",
                                       "export LULL_REDFISH_URL=https://CONTROLLER/redfish/v1/Chassis/CHASSIS/Power"});
    meter.command = fmt::format("curl --silent --show-error --fail --netrc --max-time {} {}",
                                setting_real("LULL_COMMAND_TIMEOUT_S"), quoted(url));
  }
  return make_command_meter(meter, root);
}

}  // namespace lull::meter
