// The power of machine parts that no meter measures: built-in values, each with its source, and those of a site that
// replace them (LULL_SITE, site.hpp).
//
// The built-in table selects the processor by its family. Each value is a band: low, middle, high.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "meter/calibration.hpp"
#include "meter/source.hpp"

namespace lull::meter {

struct component {
  band value;
  std::string source;    // citation
  bool of_site = false;  // the site's value, not a built-in one
};

struct processor_power {
  std::string name;
  band idle_watts, busy_watts;  // per logical CPU
  std::string source;
};

struct components {
  processor_power processor;
  component dram_watts_per_gb;
  component dram_pj_per_bit;
  std::optional<double> dram_full_load_gb_per_s;  // set by the site, since accessed bytes are not counted
  component nic_watts;
  component switch_watts_per_port;
  std::optional<int> switch_ports;  // set by the site: ports that this node's traffic passes
  std::optional<calibration> calibrated;
};

[[nodiscard]] constexpr band half_as_much_either_way(double watts) { return {0.5 * watts, watts, 1.5 * watts}; }

// Built-in values, replaced by those of the site. The processor is that of LULL_ESTIMATE_CPU, or of /proc/cpuinfo below
// `root`. Throws if a setting is wrong or a site file is invalid.
[[nodiscard]] components components_in_force(const sysroot& root);
// Without a processor: sufficient for wire energy.
[[nodiscard]] components components_in_force();

}  // namespace lull::meter
