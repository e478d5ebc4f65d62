// The built-in values and their sources:
//
//   processor    watts per logical CPU, idle and busy: Cloud Carbon Footprint's coefficients from SPECpower results
//                (https://www.cloudcarbonfootprint.org/docs/methodology). Until they are calibrated with a meter, such
//                coefficients are good to about +-50 %, which is the band. For a processor that is not in the table,
//                the middle is the mean over the fleets of the three large providers, and the band extends from half
//                the lowest to one and a half times the highest of them.
//   DRAM         0.392 W per GB present, from the same source
//   DRAM access  20 pJ/bit, the lower end of 20 to 41 pJ/bit for a 64-bit access of 1.3 to 2.6 nJ (Horowitz, ISSCC
//                2014)
//   NIC          15 W: one of the four of a Frontier node, 60 W together, in the aggregation study; LULL_WIRE_WATTS
//   switch port  250 W / 64 ports of a Rosetta switch (De Sensi et al., SC20, arXiv:2008.08886), used for cxi devices
#include "meter/components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/site.hpp"

namespace lull::meter {
namespace {

struct cpu_family {
  std::string_view name;
  band idle_watts;  // per logical CPU
  band busy_watts;
};

constexpr cpu_family known_family(std::string_view name, double idle, double busy) {
  return {name, half_as_much_either_way(idle), half_as_much_either_way(busy)};
}

constexpr std::array families{
    known_family("skylake", 0.64, 4.19),
    known_family("cascade-lake", 0.64, 3.97),
    known_family("broadwell", 0.71, 3.69),
    known_family("haswell", 1.90, 6.01),
    known_family("epyc2", 0.47, 1.69),
    known_family("epyc3", 0.45, 1.87),
    // AWS 0.74-3.5, Azure 0.78-3.76, GCP 0.71-4.26
    cpu_family{"unknown",
               {0.5 * 0.71, (0.74 + 0.78 + 0.71) / 3, 1.5 * 0.78},
               {0.5 * 3.5, (3.5 + 3.76 + 4.26) / 3, 1.5 * 4.26}},
};
constexpr std::string_view coefficients = "Cloud Carbon Footprint coefficients from SPECpower";

const cpu_family& family_called(std::string_view name) {
  const auto found = std::ranges::find(families, name, &cpu_family::name);
  if (found != families.end()) return *found;
  std::string names = "auto";
  for (const cpu_family& f : families) names += fmt::format(", {}", f.name);
  throw error("read setting LULL_ESTIMATE_CPU", fmt::format("there is no processor family '{}'", name),
              "choose one of " + names);
}

// The value of the first line `key : value` in /proc/cpuinfo; -1 if there is none.
int cpuinfo_number(const std::string& cpuinfo, std::string_view key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key) || line.find_first_not_of(" \t", key.size()) != line.find(':')) continue;
    int value = -1;
    const auto from = std::min(line.find_first_not_of(" \t", line.find(':') + 1), line.size());
    std::from_chars(line.data() + from, line.data() + line.size(), value);
    return value;
  }
  return -1;
}

// Server processors by vendor, family, model and stepping, as in Linux, arch/x86/include/asm/intel-family.h and AMD's
// revision guides. Processors that are newer than the table of coefficients stay unknown.
std::string_view recognised_family(const std::string& cpuinfo) {
  const int number = cpuinfo_number(cpuinfo, "cpu family");
  const int model = cpuinfo_number(cpuinfo, "model");
  const int stepping = cpuinfo_number(cpuinfo, "stepping");
  if (cpuinfo.find("GenuineIntel") != std::string::npos && number == 6) switch (model) {
      case 60:
      case 63:
      case 69:
      case 70:
        return "haswell";
      case 61:
      case 71:
      case 79:
      case 86:
        return "broadwell";
      case 78:
      case 94:
        return "skylake";
      case 85:
        return stepping <= 4 ? "skylake" : stepping <= 7 ? "cascade-lake" : "unknown";
      default:
        return "unknown";
    }
  if (cpuinfo.find("AuthenticAMD") != std::string::npos) {
    if (number == 23 && model >= 0x30 && model <= 0x3f) return "epyc2";
    if (number == 25 && model <= 0x0f) return "epyc3";
  }
  return "unknown";
}

constexpr std::string_view nic_of_study =
    "LULL_WIRE_WATTS; 15 W: one of four NICs, 60 W together, in the aggregation study";

// A wrong LULL_ESTIMATE_CPU is an error even if the site's values or a calibration replace the table's.
processor_power processor_of(const sysroot& root) {
  const std::string asked = setting_text("LULL_ESTIMATE_CPU");
  const cpu_family& family =
      family_called(asked == "auto" ? recognised_family(root.text("/proc/cpuinfo")) : std::string_view(asked));
  const bool known = family.name != "unknown";
  return {
      .name = std::string(family.name),
      .idle_watts = family.idle_watts,
      .busy_watts = family.busy_watts,
      .source = fmt::format("{}, {}", coefficients,
                            known ? "band -50 % to +50 %"
                                  : "mean of AWS 0.74-3.5, Azure 0.78-3.76, GCP 0.71-4.26 W, band from -50 % of the "
                                    "lowest to +50 % of the highest")};
}

components with_site(components figures) {
  if (const std::string path = setting_text("LULL_SITE"); !path.empty()) apply_site(path, figures);
  // A setting for this run overrides the site's file.
  if (setting_is_set("LULL_WIRE_WATTS")) figures.nic_watts = {};
  if (!figures.nic_watts.of_site) {
    const double watts = setting_real("LULL_WIRE_WATTS");
    figures.nic_watts = {{watts, watts, watts}, std::string(nic_of_study), false};
  }
  return figures;
}

}  // namespace

components components_in_force() {
  components figures;
  figures.dram_watts_per_gb = {half_as_much_either_way(0.392), fmt::format("{}, band -50 % to +50 %", coefficients)};
  figures.dram_pj_per_bit = {{20, 20, 41}, "Horowitz, ISSCC 2014: 1.3 to 2.6 nJ for 64 bits"};
  figures.switch_watts_per_port = {half_as_much_either_way(250.0 / 64),
                                   "250 W for 64 ports of Rosetta, De Sensi et al., SC20, band -50 % to +50 %"};
  return with_site(std::move(figures));
}

components components_in_force(const sysroot& root) {
  processor_power processor = processor_of(root);
  components figures = components_in_force();
  if (figures.processor.name.empty()) figures.processor = std::move(processor);
  return figures;
}

}  // namespace lull::meter
