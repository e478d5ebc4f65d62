#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "meter/parts/plausible_power.hpp"
#include "meter/parts/power_integral.hpp"
#include "meter/sources/hwmon.hpp"

namespace lull::meter {
namespace {

// A longer time between two averages is a gap; the sampler may be as slow as 0.1 Hz.
constexpr std::int64_t longest_ns = 15'000'000'000;
constexpr seconds usual_average{1.0};  // if the driver does not state it

struct held_sensor {
  held_file file;
  std::optional<power_integral> integral;   // for a power
  std::optional<plausible_power> believed;  // for the power of a node
};

double watts(const number_read& read) { return static_cast<double>(read.number) * 1e-6; }

availability state_of(const hwmon_source& what, const std::string& left_out, std::vector<held_sensor>& sensors) {
  if (sensors.empty()) return {false, left_out.empty() ? what.absent : left_out, ""};
  for (held_sensor& s : sensors)
    if (const int error = s.file.read_number().error)
      return {false, fmt::format("{}: {}", s.file.path(), describe_errno(error)),
              error == EACCES || error == EPERM ? what.fix : ""};
  return {true, "", ""};
}

source_description describe(const sysroot& root, const hwmon_source& what, const std::vector<hwmon_channel>& channels,
                            const std::string& left_out, std::vector<held_sensor>& sensors) {
  source_description result{.name = what.name,
                            .kind = what.kind,
                            .unit = "uJ",
                            .interval = seconds{0},
                            .range = {},
                            .permission = what.permission,
                            .channels = {},
                            .state = state_of(what, left_out, sensors),
                            .left_out = sensors.empty() ? "" : left_out};
  std::set<std::uint64_t> ranges;
  for (const hwmon_channel& c : channels) {
    const hwmon_sensor& s = c.sensor;
    const seconds interval = s.is_power && s.interval.value() == 0 ? usual_average : s.interval;
    if (interval.value() > result.interval.value()) result.interval = interval;
    if (c.limits.range > 0) ranges.insert(c.limits.range);
    result.channels.push_back(
        {.name = what.name + ":" + c.name,
         .covers = c.covers,
         .kind = c.kind,
         .interval = interval,
         .basis = fmt::format("{}{}{}", root.locate(s.path), s.label.empty() ? "" : fmt::format(" ({})", s.label),
                              s.is_power ? ", integrated by trapezoids" : ""),
         .limits = c.limits,
         .joules_per_unit = {1e-6, 1e-6, 1e-6},
         .watts = {},
         .integrated = s.is_power});
  }
  if (!ranges.empty()) result.range = fmt::format("wraps at {} uJ", fmt::join(ranges, " or "));
  return result;
}

class sensors_of_hwmon final : public source {
 public:
  sensors_of_hwmon(const sysroot& root, const hwmon_source& what, const std::vector<hwmon_channel>& channels,
                   const std::string& left_out, std::vector<held_sensor> sensors)
      : source(describe(root, what, channels, left_out, sensors)), root_(root), sensors_(std::move(sensors)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      held_sensor& s = sensors_[i];
      const number_read now = s.file.read_number();
      const std::int64_t time_ns = root_.now();
      if (!s.integral) {
        into[i] = stamped(now, time_ns);
        continue;
      }
      const bool good = now.error == 0 && (!s.believed || s.believed->doubt(watts(now)).empty());
      s.integral->push(good ? std::optional(watts(now)) : std::nullopt, time_ns);
      into[i] = s.integral->at(time_ns);
      if (now.error != 0) into[i].error = now.error;
    }
  }

 private:
  sysroot root_;
  std::vector<held_sensor> sensors_;
};

}  // namespace

std::vector<hwmon_sensor> find_hwmon_sensors(const sysroot& root) {
  std::vector<hwmon_sensor> found;
  for (const std::string& chip : root.list(hwmon_folder)) {
    // Drivers that register in the old form, as the ACPI power meter before Linux 6.15, have their files at the device.
    std::string folder = fmt::format("{}/{}", hwmon_folder, chip);
    if (!root.exists(folder + "/name")) folder += "/device";
    const std::string name = root.text(folder + "/name");
    for (const std::string& file : root.list(folder)) {
      const std::string sensor = file.substr(0, file.find('_'));
      const std::string path = fmt::format("{}/{}", folder, file);
      if (file.starts_with("energy") && file.ends_with("_input")) {
        found.push_back({name, sensor, root.text(fmt::format("{}/{}_label", folder, sensor)), path, false, seconds{0}});
      } else if (file.starts_with("power") &&
                 (file.ends_with("_average") ||
                  (file.ends_with("_input") && !root.exists(fmt::format("{}/{}_average", folder, sensor))))) {
        const number_read average =
            held_file(root, fmt::format("{}/{}_average_interval", folder, sensor)).read_number();
        std::string label = root.text(fmt::format("{}/{}_oem_info", folder, sensor));
        if (label.empty()) label = root.text(fmt::format("{}/{}_label", folder, sensor));
        found.push_back({name, sensor, label, path, true,
                         seconds{average.error == 0 ? static_cast<double>(average.number) * 1e-3 : 0}});
      }
    }
  }
  return found;
}

std::unique_ptr<source> make_hwmon_source(const sysroot& root, const hwmon_source& what,
                                          const std::vector<hwmon_channel>& channels) {
  std::vector<held_sensor> sensors;
  std::vector<hwmon_channel> kept;
  std::string left_out;
  for (const hwmon_channel& c : channels) {
    held_sensor held{held_file(root, c.sensor.path), std::nullopt, std::nullopt};
    if (c.sensor.is_power) held.integral = power_integral(longest_ns);
    if (c.sensor.is_power && c.covers == domain::node) {
      held.believed = plausible_power(plausible_watts_of_node());
      const number_read now = held.file.read_number();
      if (const std::string doubt = now.error == 0 ? held.believed->doubt(watts(now)) : ""; !doubt.empty()) {
        left_out += fmt::format("{}{}: {}", left_out.empty() ? "" : "; ", held.file.path(), doubt);
        continue;
      }
    }
    kept.push_back(c);
    sensors.push_back(std::move(held));
  }
  return std::make_unique<sensors_of_hwmon>(root, what, kept, left_out, std::move(sensors));
}

}  // namespace lull::meter
