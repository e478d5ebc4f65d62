// The power of EPYC's sockets by AMD's Host System Management Port: the hwmon chip of the driver amd_hsmp, since Linux
// 6.16, one for each socket, in the order of the sockets.
//
// power1_input is what the processor's management unit computes, and any user may read it, unlike the counters of RAPL.
// Both cover the socket: totals count the first of equals, which is RAPL's. The value is a power at a moment, so it is
// integrated. (Linux, drivers/platform/x86/amd/hsmp/hwmon.c.)
#include <fmt/format.h>

#include "meter/sources/hwmon.hpp"

namespace lull::meter {
namespace {

constexpr counter_limits of_power{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true};

}  // namespace

std::unique_ptr<source> make_hsmp(const sysroot& root) {
  std::vector<hwmon_channel> channels;
  for (hwmon_sensor& s : find_hwmon_sensors(root)) {
    if (s.chip != "amd_hsmp_hwmon" || s.name != "power1") continue;
    s.interval = seconds{1e-3};
    const std::string name = fmt::format("socket-{}", channels.size());
    channels.push_back({std::move(s), name, domain::package, kind::vendor_model, of_power});
  }
  return make_hwmon_source(root,
                           {.name = "hsmp",
                            .kind = kind::vendor_model,
                            .permission = "none",
                            .absent = "the driver amd_hsmp is not loaded, or older than Linux 6.16",
                            .fix = fmt::format("sudo chmod a+r {}/*/power1_input", hwmon_folder)},
                           channels);
}

}  // namespace lull::meter
