// What parts of a machine draw, where nothing meters them: the built-in figures, each with its source, and those that a
// site puts in their place (LULL_SITE, site.hpp).
//
// The processor of the built-in table goes by its family. A figure is a band: low, middle, high.
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
  bool of_site = false;  // the site's figure, not a built-in one
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
  std::optional<double>
      dram_full_load_gb_per_s;  // the site's: bytes accessed are not counted, so a load stands for them
  component nic_watts;
  component switch_watts_per_port;
  std::optional<int> switch_ports;  // the site's: ports this node's traffic passes
  std::optional<calibration> calibrated;
};

[[nodiscard]] constexpr band half_as_much_either_way(double watts) { return {0.5 * watts, watts, 1.5 * watts}; }

// Built-in figures with those of the site in their place. The processor is the one of LULL_ESTIMATE_CPU, or of the
// /proc/cpuinfo below `root`. Throws for a wrong setting and for a site file that is not valid.
[[nodiscard]] components components_in_force(const sysroot& root);
// Without a processor: what wire energy needs.
[[nodiscard]] components components_in_force();

}  // namespace lull::meter
