// The site's own figures (LULL_SITE): a TOML file that replaces built-in ones, table by table, key by key.
//
//   [processor]    idle_watts, busy_watts: per logical CPU; source
//   [dram]         watts_per_gb; access_pj_per_bit with full_load_gb_per_s, the traffic of all CPUs at full load;
//   source [nic]          watts: of one network interface; source [switch]       watts_per_port, ports: how many this
//   node's links end in or pass; source [calibration]  idle_watts, full_watts, when, meter; band
//
// A figure is a number, or [low, middle, high]; a number alone has no band. A table with figures says its source. Any
// other key, a wrong type or an impossible value is an error that names the line, and the nearest key that exists.
#pragma once
#include <string>

#include "meter/components.hpp"

namespace lull::meter {

// Replaces in `figures` what the file has. Throws lull::usage_error.
void apply_site(const std::string& path, components& figures);

}  // namespace lull::meter
