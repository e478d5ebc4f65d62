// Shared by the sources of the kernel's hwmon class: chips and their sensors, and a source made of some of them.
//
// energyN_input counts microjoules. powerN_average or powerN_input are microwatts, which the source integrates when it
// is read (power_integral.hpp). (Linux, Documentation/hwmon/sysfs-interface.rst.)
#pragma once
#include <string>
#include <vector>

#include "meter/source.hpp"

namespace lull::meter {

inline constexpr std::string_view hwmon_folder = "/sys/class/hwmon";

struct hwmon_sensor {
  std::string chip;   // its `name`: "i915"
  std::string name;   // "energy1", "power1"
  std::string label;  // energy1_label, or powerN_oem_info for powers; may be empty
  std::string path;   // the file to read
  bool is_power = false;
  seconds interval;  // averaging interval; 0: unknown
};

// All sensors of energy and power, chip by chip.
[[nodiscard]] std::vector<hwmon_sensor> find_hwmon_sensors(const sysroot& root);

struct hwmon_channel {
  hwmon_sensor sensor;
  std::string name;  // unique within the source
  domain covers;
  meter::kind kind;
  counter_limits limits;  // for an energy; microjoules
};

struct hwmon_source {
  std::string name;
  meter::kind kind;
  std::string permission;
  std::string absent;  // the reason if there is no channel
  std::string fix;     // what to do if the files may not be read
};

[[nodiscard]] std::unique_ptr<source> make_hwmon_source(const sysroot& root, const hwmon_source& what,
                                                        const std::vector<hwmon_channel>& channels);

}  // namespace lull::meter
