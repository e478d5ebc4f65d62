// The site's values (LULL_SITE): a TOML file that replaces built-in values, table by table, key by key.
//
//   [processor]    idle_watts, busy_watts: per logical CPU; source
//   [dram]         watts_per_gb; access_pj_per_bit with full_load_gb_per_s, the traffic of all CPUs at full load;
//                  source
//   [nic]          watts: of one network interface; source
//   [switch]       watts_per_port, ports: the number of ports that this node's links end in or pass; source
//   [calibration]  idle_watts, full_watts, when, meter; band
//
// A value is a number, or [low, middle, high]; a single number has no band. A table with values states its source. Any
// other key, a wrong type or an impossible value is an error that names the line, and the nearest existing key.
#pragma once
#include <string>

#include "meter/components.hpp"

namespace lull::meter {

// Replaces the values in `figures` that the file has. Throws lull::usage_error.
void apply_site(const std::string& path, components& figures);

}  // namespace lull::meter
