#include "meter/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace lull::meter {
namespace {

constexpr double least_difference = 0.1;

bool is_share(double u) { return u >= 0 && u <= 1; }

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

bool calibration::of_node() const {
  static constexpr std::array<std::string_view, 5> of_processors{"powercap", "perf", "amd_energy", "hsmp", "grace"};
  const std::string_view source = std::string_view(meter).substr(0, meter.find(':'));
  return std::ranges::find(of_processors, source) == of_processors.end();
}

calibration fit(const load_point& idle, const load_point& full, std::string meter, std::string when) {
  const std::string action = "calibrate the estimate";
  if (!is_share(idle.utilisation) || !is_share(full.utilisation))
    throw error(action,
                fmt::format("utilisations {} and {} are not between 0 and 1", idle.utilisation, full.utilisation));
  if (full.utilisation - idle.utilisation < least_difference)
    throw error(action, fmt::format("the loads {:.2f} and {:.2f} are too close", idle.utilisation, full.utilisation),
                "leave the machine idle for one point and load all its CPUs for the other");
  const double slope = (full.watts - idle.watts) / (full.utilisation - idle.utilisation);
  const double at_idle = idle.watts - slope * idle.utilisation;
  if (!(slope > 0) || !(at_idle >= 0))
    throw error(action,
                fmt::format("power does not rise with the load: {} W idle and {} W loaded", idle.watts, full.watts),
                "measure for longer, with nothing else on the machine");
  return {.idle_watts = at_idle, .full_watts = at_idle + slope, .when = std::move(when), .meter = std::move(meter)};
}

std::string as_toml(const calibration& c) {
  return fmt::format("[calibration]\nidle_watts = {:.3f}\nfull_watts = {:.3f}\nwhen = {}\nmeter = {}\nband = {}\n",
                     c.idle_watts, c.full_watts, quoted(c.when), quoted(c.meter), c.band);
}

}  // namespace lull::meter
