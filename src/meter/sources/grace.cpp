// NVIDIA Grace and Grace Hopper: ACPI power meters whose powerN_oem_info says what each measures.
//
//   Grace Power Socket N    the processor's socket: CPU and SysIO, including memory
//   Module Power Socket N   a Grace Hopper module: processor, its memory, the GPU with its memory, regulator loss
//   CPU Power Socket N      the rail of the cores; SysIO Power Socket N: that of the rest of the chip. Parts of the
//                           socket: no channel, also where firmware reports nothing else
//
// For a socket that belongs to a module, the module is read, because it includes the socket. Its channel is
// grace:module-N in the domain package; a GPU is then not added to it (totals.py). The values are averages, so power is
// integrated. (NVIDIA, Grace Performance Tuning Guide, chapter on power.)
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "meter/sources/hwmon.hpp"

namespace lull::meter {
namespace {

constexpr counter_limits of_integral{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true};

}  // namespace

std::unique_ptr<source> make_grace(const sysroot& root) {
  constexpr std::string_view module = "Module Power Socket ", socket = "Grace Power Socket ";
  std::map<std::string, hwmon_channel> by_socket;
  for (const hwmon_sensor& s : find_hwmon_sensors(root)) {
    if (!s.is_power) continue;
    const auto channel_called = [&](std::string_view what, const std::string& number) {
      return hwmon_channel{s, fmt::format("{}-{}", what, number), domain::package, kind::measured, of_integral};
    };
    if (s.label.starts_with(module)) {
      const std::string number = s.label.substr(module.size());
      by_socket.insert_or_assign(number, channel_called("module", number));
    } else if (s.label.starts_with(socket)) {
      const std::string number = s.label.substr(socket.size());
      by_socket.try_emplace(number, channel_called("socket", number));
    }
  }
  std::vector<hwmon_channel> channels;
  channels.reserve(by_socket.size());
  for (auto& [number, channel] : by_socket) channels.push_back(std::move(channel));
  return make_hwmon_source(root,
                           {.name = "grace",
                            .kind = kind::measured,
                            .permission = "none",
                            .absent = "there is no power meter of a Grace socket here",
                            .fix = fmt::format("sudo chmod a+r {}/*/{{,device/}}power*_average", hwmon_folder)},
                           channels);
}

}  // namespace lull::meter
