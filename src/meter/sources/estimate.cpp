// The labelled estimate for machines without any counter: most virtual machines and containers.
//
//   package = CPUs * [idle + (busy - idle) * utilisation] * time, watts per logical CPU
//   dram    = watts per GB of memory * time, and, if the site gives the traffic at full load, pJ/bit for its accesses
//   switch  = ports * watts per port * time; outside the node, so in no total
//
// with the values of components.hpp, or, if calibrated (calibration.hpp), a line through two points of a meter:
//
//   node (or package) = [idle + (full - idle) * utilisation] * time
//
// Utilisation comes from /proc/stat, so it covers everything that runs on this machine: user, nice, system, irq and
// softirq count (user includes guest time); idle and iowait do not; stolen time is the energy of other virtual
// machines. Ticks take 10 ms. All channels read that one counter, so even those that depend on time alone have its
// gaps.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/error.hpp"
#include "meter/components.hpp"
#include "meter/source.hpp"
#include "meter/sources/wire.hpp"

namespace lull::meter {
namespace {

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

// The busy ticks of all CPUs together, from the first line of /proc/stat: "cpu user nice system idle iowait irq
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

band difference(const band& a, const band& b) { return {a.low - b.low, a.mid - b.mid, a.high - b.high}; }

// Idle power and the power that full load of all CPUs adds, as a channel that counts their ticks.
struct load_line {
  band idle_watts, more_watts;
};

class channels_of_ticks {
 public:
  channels_of_ticks(double ticks_per_second, int cpus) : ticks_per_second_(ticks_per_second), cpus_(cpus) {}

  [[nodiscard]] channel made(std::string_view name, domain covers, const load_line& line, std::string basis) const {
    return {.name = fmt::format("estimate:{}", name),
            .covers = covers,
            .kind = kind::estimated,
            .interval = tick(),
            .basis = std::move(basis),
            .limits = {.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true},
            .joules_per_unit = scaled(line.more_watts, 1 / (ticks_per_second_ * cpus_)),
            .watts = line.idle_watts};
  }
  [[nodiscard]] seconds tick() const { return seconds{1 / ticks_per_second_}; }

 private:
  double ticks_per_second_;
  int cpus_;
};

channel calibrated_channel(const channels_of_ticks& make, const calibration& c) {
  const auto within_band = [&](double watts) { return band{watts * (1 - c.band), watts, watts * (1 + c.band)}; };
  return make.made(
      c.of_node() ? "node" : "package", c.of_node() ? domain::node : domain::package,
      {within_band(c.idle_watts), within_band(c.full_watts - c.idle_watts)},
      fmt::format("{:.1f} W + {:.1f} W x utilisation in /proc/stat, calibrated with {} on {}, taken as right "
                  "within {:.0f} %",
                  c.idle_watts, c.full_watts - c.idle_watts, c.meter, c.when, 100 * c.band));
}

channel package_channel(const channels_of_ticks& make, const processor_power& p, int cpus) {
  const band more = difference(p.busy_watts, p.idle_watts);
  return make.made("package", domain::package, {scaled(p.idle_watts, cpus), scaled(more, cpus)},
                   fmt::format("{} CPUs x [{:.2f} W + {:.2f} W x utilisation in /proc/stat] ({} processor; {})", cpus,
                               p.idle_watts.mid, more.mid, p.name, p.source));
}

channel dram_channel(const channels_of_ticks& make, const components& figures, double gib) {
  load_line line{scaled(figures.dram_watts_per_gb.value, gib), {}};
  std::string basis = fmt::format("{} W/GB x {:.2f} GB in /proc/meminfo ({})", figures.dram_watts_per_gb.value.mid, gib,
                                  figures.dram_watts_per_gb.source);
  if (const auto traffic = figures.dram_full_load_gb_per_s) {
    line.more_watts = scaled(figures.dram_pj_per_bit.value, *traffic * 1e9 * 8 * 1e-12);
    basis += fmt::format(" + {} pJ/bit x {} GB/s x utilisation ({})", figures.dram_pj_per_bit.value.mid, *traffic,
                         figures.dram_pj_per_bit.source);
  } else {
    basis += ", access to it not included";
  }
  return make.made("dram", domain::dram, line, std::move(basis));
}

std::optional<channel> switch_channel(const channels_of_ticks& make, const components& figures, const sysroot& root) {
  const int ports = figures.switch_ports ? *figures.switch_ports : static_cast<int>(root.list(cxi_folder).size());
  if (ports == 0) return std::nullopt;
  const component& port = figures.switch_watts_per_port;
  return make.made(
      "switch", domain::nic, {scaled(port.value, ports), {}},
      fmt::format("{} switch ports x {:.2f} W ({}), outside the node", ports, port.value.mid, port.source));
}

source_description describe(const sysroot& root, held_file& stat) {
  const components figures = components_in_force(root);
  const int cpus = count_cpus(root.text("/proc/stat"));
  const channels_of_ticks make(static_cast<double>(sysconf(_SC_CLK_TCK)), std::max(cpus, 1));
  source_description result{.name = "estimate",
                            .kind = kind::estimated,
                            .unit = "ticks",
                            .interval = make.tick(),
                            .range = {},
                            .permission = "none",
                            .channels = {},
                            .state = {}};
  if (const int error = busy_ticks(stat).error; error != 0 || cpus == 0) {
    result.state.reason = fmt::format("{}: {}", stat.path(), describe_errno(error != 0 ? error : EBADMSG));
    return result;
  }
  result.state.readable = true;
  const bool whole_node = figures.calibrated && figures.calibrated->of_node();
  result.channels.push_back(figures.calibrated ? calibrated_channel(make, *figures.calibrated)
                                               : package_channel(make, figures.processor, cpus));
  if (const double gib = memory_gib(root); gib > 0 && !whole_node)
    result.channels.push_back(dram_channel(make, figures, gib));
  if (auto ports = switch_channel(make, figures, root)) result.channels.push_back(std::move(*ports));
  return result;
}

class estimate final : public source {
 public:
  estimate(const sysroot& root, held_file stat) : source(describe(root, stat)), root_(root), stat_(std::move(stat)) {}

  void read(std::span<reading> into) override {
    const reading now = stamped(busy_ticks(stat_), root_.now());
    std::ranges::fill(into, now);
  }

 private:
  sysroot root_;
  held_file stat_;
};

}  // namespace

std::unique_ptr<source> make_estimate(const sysroot& root) {
  return std::make_unique<estimate>(root, held_file(root, "/proc/stat"));
}

}  // namespace lull::meter
