// The power of the whole node from its management controller by Redfish: JSON over HTTPS, out of band.
//
// Two forms are known: Chassis/*/Power with PowerControl[].PowerConsumedWatts, and the newer EnvironmentMetrics with
// PowerWatts.Reading. Either may describe a part of the node: an entry of PowerControl its processors, the metrics one
// processor. The latter's EnergykWh counts in steps far too coarse for a job, so power is integrated. With
// LULL_REDFISH_URL, curl sends the request, with the credentials in ~/.netrc; LULL_REDFISH_COMMAND replaces it by any
// command that prints the same JSON. (Records contain the command, so it must not contain a password.)
#include "meter/sources/redfish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/settings.hpp"
#include "meter/parts/polled_meter.hpp"

namespace lull::meter {
namespace {

using nlohmann::json;

// The value of `key` in an object; null if there is no such key, or no object. A controller may return anything.
const json& at(const json& value, const char* key) {
  static const json nothing;
  if (!value.is_object()) return nothing;
  const auto found = value.find(key);
  return found == value.end() ? nothing : *found;
}

std::string lower_text(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : "";
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

template <std::size_t N>
bool holds_one_of(const std::string& text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// Names of parts of a node, in names, contexts and addresses.
constexpr std::array<std::string_view, 11> parts{"cpu", "processor", "memory",  "dimm",    "gpu",       "accelerator",
                                                 "fan", "drive",     "storage", "network", "powersuppl"};
constexpr std::array<std::string_view, 5> wholes{"system", "server", "chassis", "node", "total"};

bool is_of_a_part(const json& value) {
  if (holds_one_of(lower_text(at(value, "Name")) + " " + lower_text(at(value, "PhysicalContext")), parts)) return true;
  const json& related = at(value, "RelatedItem");
  return related.is_array() && !related.empty() && std::ranges::all_of(related, [](const json& item) {
           return holds_one_of(lower_text(at(item, "@odata.id")), parts);
         });
}

// The power of the node among the entries of PowerControl: one that is labelled as the whole, or else one that may
// include all the others.
meter_answer node_among(const json& entries) {
  double of_whole = 0, greatest = 0, sum = 0;
  int wholes_found = 0, found = 0, left_out = 0;
  for (const json& entry : entries) {
    const json& watts = at(entry, "PowerConsumedWatts");
    if (!watts.is_number()) continue;
    if (is_of_a_part(entry)) {
      ++left_out;
      continue;
    }
    const auto value = watts.get<double>();
    ++found;
    sum += value;
    greatest = std::max(greatest, value);
    if (holds_one_of(lower_text(at(entry, "Name")) + lower_text(at(entry, "PhysicalContext")), wholes)) {
      ++wholes_found;
      of_whole = value;
    }
  }
  if (wholes_found == 1) return {of_whole};
  if (found == 1 || (found > 1 && greatest >= sum - greatest)) return {greatest};
  if (found > 1)
    return {{},
            fmt::format("{} entries of PowerControl may be the node", found),
            "print only the right one with LULL_REDFISH_COMMAND"};
  if (left_out > 0) return {{}, "every PowerControl entry with a power covers only a part of the node"};
  return {{}, "no PowerControl entry has a numeric PowerConsumedWatts"};
}

meter_answer of_metrics(const json& answer, const json& power) {
  if (holds_one_of(lower_text(at(answer, "@odata.id")), parts) || is_of_a_part(power))
    return {{}, "these metrics cover only a part of the node", "name the metrics of the chassis"};
  const json& reading = at(power, "Reading");
  if (!reading.is_number()) return {{}, "PowerWatts.Reading is not a number"};
  const json& unit = at(power, "ReadingUnits");
  const auto factor = factor_of(unit.is_string() ? unit.get<std::string>() : "", answer_in::watts);
  if (!factor) return {{}, fmt::format("the unit of PowerWatts.Reading is {}", shown(unit.get<std::string>()))};
  return {reading.get<double>() * *factor};
}

// As one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

meter_answer power_in_redfish(const std::string& text) {
  const json answer = json::parse(text, nullptr, false);
  if (answer.is_discarded()) return {{}, "the answer is not JSON"};
  if (!answer.is_object()) return {{}, fmt::format("the answer is not a JSON object but {}", shown(answer.dump()))};
  if (const json& power = at(answer, "PowerWatts"); power.is_object()) return of_metrics(answer, power);
  if (const json& entries = at(answer, "PowerControl"); entries.is_array()) return node_among(entries);
  if (const json& said = at(at(answer, "error"), "message"); said.is_string())
    return {{}, shown(said.get<std::string>())};
  return {{}, "the answer has neither PowerWatts nor PowerControl"};
}

std::unique_ptr<source> make_redfish(const sysroot& root) {
  command_meter meter{.name = "redfish",
                      .command = setting_text("LULL_REDFISH_COMMAND"),
                      .scale = "LULL_REDFISH_SCALE",
                      .unit = answer_in::watts,
                      .basis = "power of the node (Redfish)",
                      .permission = "an account on the management controller, in ~/.netrc",
                      .asked_for = setting_is_set("LULL_REDFISH_COMMAND") || setting_is_set("LULL_REDFISH_URL"),
                      .parse = power_in_redfish};
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
