// Intel's and AMD's RAPL counters in the kernel's powercap class: /sys/class/powercap/intel-rapl:*.
//
// Zones are identified by the file `name`, never by their number: intel-rapl:0 may be package-1. The class folder is
// flat: a subzone is intel-rapl:0:0, next to its parent. Zones of intel-rapl-mmio show the same packages again, and
// core and uncore are parts of their package, so none of these becomes a channel. psys is the platform and includes the
// package: a sum uses psys, or packages and DRAM, never both. DRAM is not part of the package, and has a separate
// range. (Linux, Documentation/ABI/testing/sysfs-class-powercap and drivers/powercap/intel_rapl_common.c.)
//
// The kind is vendor-model, although some of these counters are based on a true measurement, because the machine does
// not say which. Before Haswell-EP the values come from an activity model, since then from the voltage regulators on
// servers (Desrochers, Paradis, Weaver, MEMSYS 2016); on Ice Lake with Optane they overestimate and differ between
// sockets (ICPE 2024, doi:10.1145/3629526.3645052); AMD documents a model. They follow the power at the plug closely
// (Khan et al., ACM TOMPECS 3(2), 2018), with an offset that no calibration removes (Fahad et al., Energies 12(11),
// 2019). The band below therefore covers only what is known exactly, the time resolution; tally.cpp adds it.
//
// On AMD, Linux 6.9 to 6.11 show each die of a package as a separate zone, all with the counter of the package (fixed
// by "perf/x86/rapl: Fix the energy-pkg event for AMD CPUs"): the first represents the package.
//
// A container runtime may hide the counters by mounting something empty over /sys/devices/virtual/powercap, so that the
// links in the class folder are dangling.
//
// The driver truncates the unit of max_energy_range_uj and energy_uj to whole nanojoules: both are 2.6 to 52 ppm too
// low.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

constexpr std::string_view folder = "/sys/class/powercap";
constexpr std::string_view device_folder = "/sys/devices/virtual/powercap";
constexpr std::string_view prefix = "intel-rapl:";
constexpr seconds update_interval{1e-3};
// A value may be as old as the update interval plus the time that a sampling thread waits for a core on a busy machine.
constexpr std::int64_t slack_ns = 100'000'000;

// Powers that no such zone reaches. Generous: they only distinguish a wrap (a range is at least 65 kJ) from a reset.
constexpr double most_watts_of_package = 1000;
constexpr double most_watts_of_dram = 500;
constexpr double most_watts_of_platform = 10'000;

struct zone {
  meter::channel channel;
  held_file energy;
};

// "package-0-die-1" -> "0-die-1"; a DRAM zone is named after its package.
std::string dram_of(const std::string& package) {
  return package.starts_with("package-") ? "dram-" + package.substr(8) : "dram-" + package;
}

// The zone in `entry`, if it counts something that no other channel counts.
std::optional<zone> read_zone(const sysroot& root, const std::string& entry) {
  const std::string path = fmt::format("{}/{}", folder, entry);
  std::string name = root.text(path + "/name");
  domain covers = domain::package;
  double most_watts = most_watts_of_package;
  if (name == "psys") {
    covers = domain::node;
    most_watts = most_watts_of_platform;
  } else if (name == "dram") {
    covers = domain::dram;
    most_watts = most_watts_of_dram;
    name = dram_of(root.text(path.substr(0, path.rfind(':')) + "/name"));
  } else if (!name.starts_with("package-")) {
    return std::nullopt;
  }
  const number_read range = held_file(root, path + "/max_energy_range_uj").read_number();
  return zone{.channel = {.name = "powercap:" + name,
                          .covers = covers,
                          .kind = kind::vendor_model,
                          .interval = update_interval,
                          .basis = root.locate(path + "/energy_uj"),
                          .limits = {.range = range.error == 0 ? range.number : 0,
                                     .max_per_second = most_watts * 1e6,
                                     .slack_ns = slack_ns},
                          .joules_per_unit = {1e-6, 1e-6, 1e-6},
                          .watts = {}},
              .energy = held_file(root, path + "/energy_uj")};
}

constexpr std::string_view of_die = "-die-";
constexpr std::uint64_t same_moment_uj = 2'000'000;  // difference between two consecutive readings

std::string package_of(const std::string& name) { return name.substr(0, name.find(of_die)); }

bool is_amd(const std::string& cpuinfo) {
  return cpuinfo.find("AuthenticAMD") != std::string::npos || cpuinfo.find("HygonGenuine") != std::string::npos;
}

// If the dies of a package show one counter, keeps one zone of each package and its memory; returns in words what was
// left out.
std::string merge_mirrored_dies(const sysroot& root, std::vector<zone>& zones) {
  const std::string cpuinfo = root.text("/proc/cpuinfo");
  const auto mirrors = [&](zone& one, zone& other) {
    if (!cpuinfo.empty()) return is_amd(cpuinfo);
    const number_read first = one.energy.read_number(), second = other.energy.read_number();
    return first.error == 0 && second.error == 0 && first.number > 0 &&
           std::max(first.number, second.number) - std::min(first.number, second.number) < same_moment_uj;
  };
  std::vector<zone> kept;
  std::vector<std::string> left_out;
  for (zone& z : zones) {
    const std::string& name = z.channel.name;
    if (name.find(of_die) != std::string::npos) {
      const auto same = std::ranges::find_if(kept, [&](zone& k) {
        return k.channel.covers == z.channel.covers && package_of(k.channel.name) == package_of(name) && mirrors(k, z);
      });
      if (same != kept.end()) {
        left_out.push_back(name);
        same->channel.name = package_of(name);
        continue;
      }
    }
    kept.push_back(std::move(z));
  }
  zones = std::move(kept);
  if (left_out.empty()) return {};
  return fmt::format("{}: the same counter{} as of the first die", fmt::join(left_out, ", "),
                     left_out.size() == 1 ? "" : "s");
}

std::vector<zone> find_zones(const sysroot& root) {
  std::vector<zone> zones;
  for (const std::string& entry : root.list(folder))
    if (entry.starts_with(prefix))
      if (auto found = read_zone(root, entry)) zones.push_back(std::move(*found));
  // The platform first, then packages, then DRAM; package-2 before package-10.
  const auto rank = [](const zone& z) { return std::tuple(z.channel.covers, z.channel.name.size(), z.channel.name); };
  std::ranges::sort(zones, [&](const zone& a, const zone& b) { return rank(a) < rank(b); });
  return zones;
}

// Whether the class folder has dangling links to zones, or the folder of the zones is empty.
bool is_hidden(const sysroot& root) {
  for (const std::string& entry : root.list(folder))
    if (entry.starts_with("intel-rapl") && !root.exists(fmt::format("{}/{}/uevent", folder, entry)) &&
        !root.exists(fmt::format("{}/{}/enabled", folder, entry)) &&
        !root.exists(fmt::format("{}/{}/name", folder, entry)))
      return true;
  return root.exists(device_folder) && root.list(device_folder).empty();
}

availability try_zones(std::vector<zone>& zones, const sysroot& root) {
  if (zones.empty()) {
    if (is_hidden(root))
      return {false, fmt::format("a container runtime hides the RAPL counters: {} is masked", device_folder),
              "measure outside the container, or start it with --security-opt systempaths=unconfined (podman: "
              "unmask=ALL)"};
    if (!root.exists(folder)) return {false, "the kernel has no powercap class here", ""};
    return {false, "the kernel shows no RAPL zone here", ""};
  }
  std::string failure;
  bool any = false;
  for (zone& z : zones) {
    const int error = z.energy.read_number().error;
    if (error == 0) {
      any = true;
      continue;
    }
    failure = fmt::format("{}: {}", z.energy.path(), describe_errno(error));
    // Reading only some of the packages would look like reading all; other errors may pass, and show as gaps until
    // then.
    if (error == EACCES || error == EPERM)
      return {false, failure, fmt::format("sudo chmod a+r {}/{}*/energy_uj", folder, prefix)};
  }
  if (!any) return {false, failure, ""};
  return {true, "", ""};
}

source_description describe(std::vector<zone>& zones, std::string left_out, const sysroot& root) {
  source_description result{.name = "powercap",
                            .kind = kind::vendor_model,
                            .unit = "uJ",
                            .interval = update_interval,
                            .range = {},
                            .permission = "root since Linux 5.10 (CVE-2020-8694), unless energy_uj is made readable",
                            .channels = {},
                            .state = try_zones(zones, root),
                            .left_out = std::move(left_out)};
  std::set<std::uint64_t> ranges;
  for (const zone& z : zones) {
    result.channels.push_back(z.channel);
    if (z.channel.limits.range > 0) ranges.insert(z.channel.limits.range);
  }
  if (!ranges.empty()) result.range = fmt::format("wraps at {} uJ", fmt::join(ranges, " or "));
  return result;
}

class powercap final : public source {
 public:
  powercap(std::vector<zone> zones, std::string left_out, const sysroot& root)
      : source(describe(zones, std::move(left_out), root)), root_(root), zones_(std::move(zones)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < zones_.size(); ++i) into[i] = stamped(zones_[i].energy.read_number(), root_.now());
  }

 private:
  sysroot root_;
  std::vector<zone> zones_;
};

}  // namespace

std::unique_ptr<source> make_powercap(const sysroot& root) {
  std::vector<zone> zones = find_zones(root);
  std::string left_out = merge_mirrored_dies(root, zones);
  return std::make_unique<powercap>(std::move(zones), std::move(left_out), root);
}

}  // namespace lull::meter
