// Sensors of the hwmon class whose coverage is known, by their driver or by a setting of the site.
//
//   i915, xe      energy of a graphics card; 32 bits internally, so it may wrap, at 262144 J if the unit is 2^-14 J
//                 (any other end counts as a reset). A card that shows itself and its chip (labels card, pkg) is read
//                 once, as the card
//   amdgpu        power of a graphics card
//   power_meter   power of the machine, by the ACPI power meter; grace.cpp reads Grace's
//
// Any other chip's sensor may be on any rail, so it counts only if LULL_HWMON_CHANNELS names its domain.
#include "meter/sources/hwmon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/words.hpp"

namespace lull::meter {
namespace {

constexpr counter_limits of_intel_card{.range = 262'144'000'000, .max_per_second = 1500e6, .slack_ns = 200'000'000};
constexpr counter_limits of_any_counter{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true};
constexpr counter_limits of_integral{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true};

std::string id_of(const hwmon_sensor& s) { return s.chip + "/" + s.name; }

domain domain_called(const std::string& name, const std::string& entry) {
  static constexpr std::array all{domain::node, domain::package, domain::dram, domain::gpu, domain::nic};
  std::vector<std::string_view> names;
  for (const domain d : all) {
    if (name_of(d) == name) return d;
    names.push_back(name_of(d));
  }
  throw usage_error("read setting LULL_HWMON_CHANNELS", fmt::format("'{}' does not end in a domain", entry),
                    fmt::format("write CHIP/SENSOR=DOMAIN, with one of the domains {}", fmt::join(names, ", ")));
}

// The sensors that the setting adds: "ina226/power1" -> node.
std::map<std::string, domain> named_domains(const std::vector<hwmon_sensor>& present) {
  std::map<std::string, domain> named;
  for (const std::string& entry : words_in(setting_text("LULL_HWMON_CHANNELS"))) {
    const auto equals = std::min(entry.find('='), entry.size());
    const std::string sensor = entry.substr(0, equals);
    if (std::ranges::find(present, sensor, id_of) == present.end()) {
      std::vector<std::string> ids;
      ids.reserve(present.size());
      for (const hwmon_sensor& s : present) ids.push_back(id_of(s));
      throw usage_error("read setting LULL_HWMON_CHANNELS", fmt::format("there is no sensor '{}'", sensor),
                        ids.empty() ? "unset it" : fmt::format("there are {}", fmt::join(ids, ", ")));
    }
    named.emplace(sensor, domain_called(entry.substr(std::min(equals + 1, entry.size())), entry));
  }
  return named;
}

std::optional<hwmon_channel> channel_of(const hwmon_sensor& s, const std::map<std::string, domain>& named) {
  hwmon_channel c{.sensor = s,
                  .name = s.chip,
                  .covers = domain::gpu,
                  .kind = kind::vendor_model,
                  .limits = s.is_power ? of_integral : of_any_counter};
  if (const auto found = named.find(id_of(s)); found != named.end()) {
    c.name = fmt::format("{}-{}", s.chip, s.name);
    c.covers = found->second;
    c.kind = kind::measured;
    return c;
  }
  if (!s.is_power && s.name == "energy1" && (s.chip == "i915" || s.chip == "xe")) {
    c.limits = of_intel_card;
    return c;
  }
  if (s.is_power && s.name == "power1" && s.chip == "amdgpu") return c;
  if (s.is_power && s.name == "power1" && s.chip == "power_meter" &&
      s.label.find("Power Socket") == std::string::npos) {
    c.covers = domain::node;
    c.kind = kind::measured;
    return c;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<source> make_hwmon(const sysroot& root) {
  const std::vector<hwmon_sensor> present = find_hwmon_sensors(root);
  const std::map<std::string, domain> named = named_domains(present);
  std::vector<hwmon_channel> channels;
  for (const hwmon_sensor& s : present)
    if (auto c = channel_of(s, named)) channels.push_back(std::move(*c));
  // The second card of a kind is i915-1.
  std::map<std::string, int> seen;
  for (hwmon_channel& c : channels)
    if (const int before = seen[c.name]++; before > 0) c.name += fmt::format("-{}", before);
  return make_hwmon_source(
      root,
      {.name = "hwmon",
       .kind = kind::vendor_model,
       .permission = "none",
       .absent = "no hwmon sensor reports which energy it covers",
       .fix = fmt::format("sudo chmod a+r {}/*/{{,device/}}{{energy,power}}*_{{input,average}}", hwmon_folder)},
      channels);
}

}  // namespace lull::meter
