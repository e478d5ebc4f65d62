// The labelled estimate for machines that show no counter at all: most virtual machines and containers.
//
//   package = CPUs * [idle + (busy - idle) * utilisation] * time, watts per logical CPU from the table below
//   dram    = 0.392 W per GB of memory * time
//
// Both sets of coefficients are Cloud Carbon Footprint's (https://www.cloudcarbonfootprint.org/docs/methodology, from
// SPECpower results and memory vendors' figures). Such coefficients are guesses of the class of +-50 % until they are
// calibrated on a meter, and that is the band. For a processor that is not in the table the middle is the mean of what
// the three large providers' fleets come to, the band from half the lowest to one and a half times the highest of them.
//
// Utilisation is from /proc/stat, so of everything that runs on this machine: user, nice, system, irq and softirq count
// (guest time is inside user); idle and iowait do not; stolen time is somebody else's energy. It comes in ticks of 10
// ms.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

struct cpu_family {
  std::string_view name;
  band idle_watts;  // per logical CPU
  band busy_watts;
};

constexpr band half_as_much_either_way(double watts) { return {0.5 * watts, watts, 1.5 * watts}; }
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
constexpr double dram_watts_per_gb = 0.392;
constexpr std::string_view citation = "Cloud Carbon Footprint coefficients from SPECpower";

const cpu_family& family_called(std::string_view name) {
  const auto found = std::ranges::find(families, name, &cpu_family::name);
  if (found != families.end()) return *found;
  std::string names = "auto";
  for (const cpu_family& f : families) names += fmt::format(", {}", f.name);
  throw error("read setting LULL_ESTIMATE_CPU", fmt::format("there is no processor family '{}'", name),
              "choose one of " + names);
}

// Value of the first line `key : value` in /proc/cpuinfo; -1 when there is none.
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

// Server parts by vendor, family, model and stepping, as in Linux, arch/x86/include/asm/intel-family.h and the revision
// guides of AMD. What is newer than the table of coefficients stays unknown.
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

const cpu_family& family_of(const sysroot& root) {
  const std::string asked = setting_text("LULL_ESTIMATE_CPU");
  return family_called(asked == "auto" ? recognised_family(root.text("/proc/cpuinfo")) : std::string_view(asked));
}

int count_cpus(const std::string& stat) {
  int count = 0;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("cpu") && line.size() > 3 && line[3] >= '0' && line[3] <= '9') ++count;
  return count;
}

double memory_gib(const sysroot& root) {
  std::istringstream lines(root.text("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MemTotal:")) return std::strtod(line.c_str() + 9, nullptr) / (1024.0 * 1024.0);  // from KiB
  return 0;
}

// Ticks all CPUs together spent busy, from the first line of /proc/stat: "cpu user nice system idle iowait irq
// softirq".
number_read busy_ticks(held_file& stat) {
  std::array<char, 256> buffer;
  const auto [filled, error] = stat.read(buffer);
  if (error != 0) return {0, error};
  std::array<std::uint64_t, 7> ticks{};
  std::size_t at = filled.starts_with("cpu ") ? 4 : filled.size();
  for (std::uint64_t& field : ticks) {
    at = std::min(filled.find_first_not_of(' ', at), filled.size());
    const auto [end, status] = std::from_chars(filled.data() + at, filled.data() + filled.size(), field);
    if (status != std::errc{}) return {0, EBADMSG};
    at = static_cast<std::size_t>(end - filled.data());
  }
  return {ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], 0};
}

band scaled(const band& b, double factor) { return {b.low * factor, b.mid * factor, b.high * factor}; }

// Both channels read the same counter: DRAM is charged by time alone, and its gaps are those of /proc/stat.
source_description describe(const sysroot& root, held_file& stat) {
  const cpu_family& family = family_of(root);
  const double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const seconds tick{1 / ticks_per_second};
  const int cpus = count_cpus(root.text("/proc/stat"));
  const double gib = memory_gib(root);
  source_description result{.name = "estimate",
                            .kind = kind::estimated,
                            .unit = "ticks",
                            .interval = tick,
                            .range = {},
                            .permission = "none",
                            .channels = {},
                            .state = {}};
  if (const int error = busy_ticks(stat).error; error != 0 || cpus == 0) {
    result.state.reason = fmt::format("{}: {}", stat.path(), describe_errno(error != 0 ? error : EBADMSG));
    return result;
  }
  result.state.readable = true;

  const counter_limits limits{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true};
  const bool known = family.name != "unknown";
  const band& idle = family.idle_watts;
  const band& busy = family.busy_watts;
  result.channels.push_back(
      {.name = "estimate:package",
       .covers = domain::package,
       .kind = kind::estimated,
       .interval = tick,
       .basis = fmt::format("{} CPUs x [{:.2f} W + {:.2f} W x utilisation in /proc/stat] ({} processor; {}), {}", cpus,
                            idle.mid, busy.mid - idle.mid, family.name, citation,
                            known ? "band -50 % to +50 %"
                                  : "mean of AWS 0.74-3.5, Azure 0.78-3.76, GCP 0.71-4.26 W, band from -50 % of the "
                                    "lowest to +50 % of the highest"),
       .limits = limits,
       .joules_per_unit = {(busy.low - idle.low) / ticks_per_second, (busy.mid - idle.mid) / ticks_per_second,
                           (busy.high - idle.high) / ticks_per_second},
       .watts = scaled(idle, cpus)});
  if (gib > 0)
    result.channels.push_back({.name = "estimate:dram",
                               .covers = domain::dram,
                               .kind = kind::estimated,
                               .interval = tick,
                               .basis = fmt::format("{} W/GB x {:.2f} GB in /proc/meminfo ({}), band -50 % to +50 %",
                                                    dram_watts_per_gb, gib, citation),
                               .limits = limits,
                               .joules_per_unit = {},
                               .watts = scaled(half_as_much_either_way(dram_watts_per_gb), gib)});
  return result;
}

class estimate final : public source {
 public:
  estimate(const sysroot& root, held_file stat) : source(describe(root, stat)), stat_(std::move(stat)) {}

  void read(std::span<reading> into) override {
    const reading now = stamped(busy_ticks(stat_));
    std::ranges::fill(into, now);
  }

 private:
  held_file stat_;
};

}  // namespace

std::unique_ptr<source> make_estimate(const sysroot& root) {
  return std::make_unique<estimate>(root, held_file(root, "/proc/stat"));
}

}  // namespace lull::meter
