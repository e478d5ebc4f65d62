#include <array>

#include "meter/source.hpp"

// The sources, in order of preference. To add one, write a file with make_NAME() in sources/ and add its name here;
// docs/how-to/extend/add-an-energy-source.md lists the rest.
#define LULL_ENERGY_SOURCES(each)                                                                            \
  each(pm_counters) each(powercap) each(perf) each(amd_energy) each(hsmp) each(grace) each(hwmon) each(nvml) \
      each(rocm) each(ipmi) each(redfish) each(snmp) each(cxi) each(infiniband) each(net) each(served) each(estimate)

namespace lull::meter {

#define LULL_DECLARE(name) std::unique_ptr<source> make_##name(const sysroot& root);
LULL_ENERGY_SOURCES(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const source_entry> source_table() {
#define LULL_ENTRY(name) source_entry{#name, make_##name},
  static constexpr std::array table{LULL_ENERGY_SOURCES(LULL_ENTRY)};
#undef LULL_ENTRY
  return table;
}

std::string_view name_of(domain d) {
  switch (d) {
    case domain::node:
      return "node";
    case domain::package:
      return "package";
    case domain::dram:
      return "dram";
    case domain::gpu:
      return "gpu";
    case domain::nic:
      return "nic";
    case domain::wire:
      return "wire";
  }
  return "";
}

std::string_view name_of(kind k) {
  switch (k) {
    case kind::measured:
      return "measured";
    case kind::vendor_model:
      return "vendor-model";
    case kind::derived:
      return "derived";
    case kind::estimated:
      return "estimated";
    case kind::simulated:
      return "simulated";
  }
  return "";
}

reading stamped(const number_read& read, std::int64_t time_ns) {
  if (read.error != 0) return {.value = {}, .error = read.error, .time_ns = time_ns};
  return {.value = read.number, .error = 0, .time_ns = time_ns};
}

}  // namespace lull::meter
