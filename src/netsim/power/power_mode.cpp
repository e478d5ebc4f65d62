#include "netsim/power/power_mode.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace lull::netsim {

// The table of power modes: each is the file of that name in power/, and defines NAME_mode().
// clang-format off
#define LULL_POWER_MODES(row) \
  row(active) \
  row(deep_sleep) \
  row(fast_wake) \
  row(hybrid) \
  row(adaptive_rate)
// clang-format on

#define LULL_DECLARE(name) power_mode name##_mode();
LULL_POWER_MODES(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const power_mode> all_power_modes() {
#define LULL_ENTRY(name) name##_mode(),
  static const std::vector<power_mode> rows{LULL_POWER_MODES(LULL_ENTRY)};
#undef LULL_ENTRY
  return rows;
}

const power_mode& find_power_mode(const std::string& name) {
  std::vector<std::string> names;
  for (const power_mode& m : all_power_modes()) {
    if (name == m.name) return m;
    names.emplace_back(m.name);
  }
  throw usage_error("read power.mode", fmt::format("there is no power mode '{}'", name), nearest(name, names));
}

}  // namespace lull::netsim
