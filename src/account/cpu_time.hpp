// CPU time by cgroup: `usage_usec` of cpu.stat in cgroup v2, which every group has, with or without the controller cpu.
//
// Files stay open (held_file), because that costs 2 us a reading instead of 16. A group that has gone has no value.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "meter/sysroot.hpp"

namespace lull::account {

// The value of usage_usec in a cpu.stat.
[[nodiscard]] std::optional<std::int64_t> usage_us_in(std::string_view cpu_stat);

class cpu_time_reader {
 public:
  // `folder` is where cgroup v2 is mounted: /sys/fs/cgroup, or on hybrid machines /sys/fs/cgroup/unified.
  cpu_time_reader(meter::sysroot root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  // Of a path such as /system.slice/x.scope; "" is the root, whose time is that of the machine.
  [[nodiscard]] std::optional<std::int64_t> usage_us(const std::string& cgroup);
  // Of all paths, in this order. Files of other paths are closed, except the root's.
  [[nodiscard]] std::map<std::string, std::int64_t> usages_us(std::span<const std::string> cgroups);

 private:
  meter::sysroot root_;
  std::string folder_;
  std::map<std::string, meter::held_file> files_;
};

}  // namespace lull::account
