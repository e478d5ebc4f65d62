// The driver amd_energy for EPYC processors, now maintained outside the Linux tree: hwmon with energyN_input in
// microjoules.
//
// Labels EcoreNNN are cores, which are parts of their Esocket; only sockets become channels. The driver accumulates in
// 64 bits, so nothing wraps. The counters are those of powercap and perf: choice.cpp uses one of the three.
#include <fmt/format.h>

#include "meter/sources/hwmon.hpp"

namespace lull::meter {
namespace {

constexpr counter_limits of_socket{.range = 0, .max_per_second = 1000e6, .slack_ns = 100'000'000};

}  // namespace

std::unique_ptr<source> make_amd_energy(const sysroot& root) {
  constexpr std::string_view socket = "Esocket";
  std::vector<hwmon_channel> channels;
  for (hwmon_sensor& s : find_hwmon_sensors(root)) {
    if (s.chip != "amd_energy" || !s.label.starts_with(socket)) continue;
    s.interval = seconds{1e-3};
    const std::string name = "socket-" + s.label.substr(socket.size());
    channels.push_back({std::move(s), name, domain::package, kind::vendor_model, of_socket});
  }
  return make_hwmon_source(root,
                           {.name = "amd_energy",
                            .kind = kind::vendor_model,
                            .permission = "root or group of the file: energyN_input has mode 0440",
                            .absent = "the driver amd_energy is not loaded",
                            .fix = fmt::format("sudo chmod a+r {}/*/energy*_input", hwmon_folder)},
                           channels);
}

}  // namespace lull::meter
