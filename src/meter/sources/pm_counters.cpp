// The meter of a Cray blade: /sys/cray/pm_counters, which its controller measures ten times a second.
//
// energy is the whole node, including accelerators; cpu_energy, memory_energy and accelN_energy are parts of it, for
// the domains package, dram and gpu, so no total adds them to it (totals.hpp). There are no separate counters for
// network cards and switches. All are whole joules. On EX, a file contains "4709000000 J 1784929200000000 us": the time
// stamp belongs to the file, and two files may be 100 ms apart, so it is the time of the reading. XC has no stamps.
//
// freshness changes with every update; it is read before and after the others, again until both agree, so that a sample
// does not straddle an update. startup changes when the controller restarts, and the counters with it: a reset.
// generation changes when a power cap is set: counting continues, but is no longer guaranteed, so the total is a lower
// bound. (HPE, Cray EX and XC administration guides.)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/error.hpp"
#include "meter/parts/device_clock.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

constexpr std::string_view folder = "/sys/cray/pm_counters";
constexpr double usual_updates_per_second = 10;
constexpr double most_watts_of_node = 20'000;
constexpr double most_watts_of_part = 5000;
// A value may be some updates old, and steps by whole joules.
constexpr std::int64_t slack_ns = 500'000'000;
constexpr int most_tries = 4;

struct joules_read {
  number_read joules;
  std::optional<std::int64_t> stamp_ns;
};

// "<joules> J" or "<joules> J <microseconds> us".
joules_read read_joules(held_file& file) {
  std::array<char, 96> buffer;
  const auto [filled, error] = file.read(buffer);
  if (error != 0) return {{0, error}, {}};
  const char* const end = filled.data() + filled.size();
  joules_read result;
  const auto joules = std::from_chars(filled.data(), end, result.joules.number);
  const std::string_view rest(joules.ptr, static_cast<std::size_t>(end - joules.ptr));
  if (joules.ec != std::errc{} || !rest.starts_with(" J")) return {{0, EBADMSG}, {}};
  if (const auto at = rest.find_first_of("0123456789"); at != std::string_view::npos) {
    std::int64_t stamp_us = 0;
    const auto stamp = std::from_chars(rest.data() + at, end, stamp_us);
    if (stamp.ec != std::errc{} || !std::string_view(stamp.ptr, end).starts_with(" us")) return {{0, EBADMSG}, {}};
    result.stamp_ns = stamp_us * 1000;
  }
  return result;
}

struct counter {
  std::string name;
  domain covers;
  held_file file;
  device_clock clock;
};

std::vector<counter> find_counters(const sysroot& root) {
  std::vector<counter> found;
  const auto add = [&](const std::string& file, const std::string& name, domain covers) {
    const std::string path = fmt::format("{}/{}", folder, file);
    if (root.exists(path)) found.push_back({name, covers, held_file(root, path), {}});
  };
  add("energy", "node", domain::node);
  add("cpu_energy", "cpu", domain::package);
  add("memory_energy", "memory", domain::dram);
  for (const std::string& name : root.list(folder))
    if (name.starts_with("accel") && name.ends_with("_energy"))
      add(name, name.substr(0, name.size() - std::string_view("_energy").size()), domain::gpu);
  return found;
}

availability state_of(const sysroot& root, std::vector<counter>& counters) {
  if (!root.exists(folder)) return {false, "there is no /sys/cray/pm_counters here", ""};
  if (counters.empty()) return {false, "/sys/cray/pm_counters has no energy counter", ""};
  for (counter& c : counters)
    if (const int error = read_joules(c.file).joules.error)
      return {false, fmt::format("{}: {}", c.file.path(), describe_errno(error)), ""};
  return {true, "", ""};
}

source_description describe(const sysroot& root, std::vector<counter>& counters) {
  const number_read scan_hz = held_file(root, fmt::format("{}/raw_scan_hz", folder)).read_number();
  const double hz =
      scan_hz.error == 0 && scan_hz.number > 0 ? static_cast<double>(scan_hz.number) : usual_updates_per_second;
  source_description result{.name = "pm_counters",
                            .kind = kind::measured,
                            .unit = "J",
                            .interval = seconds{1 / hz},
                            .range = {},
                            .permission = "none",
                            .channels = {},
                            .state = state_of(root, counters)};
  for (const counter& c : counters)
    result.channels.push_back(
        {.name = "pm_counters:" + c.name,
         .covers = c.covers,
         .kind = kind::measured,
         .interval = result.interval,
         .basis =
             root.locate(c.file.path()) + (c.covers == domain::node ? ", accelerators included" : ", in the node's"),
         .limits = {.range = 0,
                    .max_per_second = c.covers == domain::node ? most_watts_of_node : most_watts_of_part,
                    .slack_ns = slack_ns},
         .joules_per_unit = {1, 1, 1},
         .watts = {}});
  return result;
}

class pm_counters final : public source {
 public:
  pm_counters(const sysroot& root, std::vector<counter> counters)
      : source(describe(root, counters)),
        root_(root),
        counters_(std::move(counters)),
        pending_(counters_.size(), continuity::kept),
        freshness_(root, fmt::format("{}/freshness", folder)),
        generation_(root, fmt::format("{}/generation", folder)),
        startup_(root, fmt::format("{}/startup", folder)),
        last_generation_(generation_.read_number()),
        last_startup_(startup_.read_number()) {}

  void read(std::span<reading> into) override {
    for (int tries = 1;; ++tries) {
      const number_read before = freshness_.read_number();
      note_changes();
      for (std::size_t i = 0; i < counters_.size(); ++i) into[i] = read(counters_[i]);
      const number_read after = freshness_.read_number();
      // Without agreement each value is still valid at its own time.
      if (before.error != 0 || after.error != 0 || before.number == after.number || tries == most_tries) break;
    }
    for (std::size_t i = 0; i < counters_.size(); ++i)
      if (into[i].value) into[i].since = std::exchange(pending_[i], continuity::kept);
  }

 private:
  reading read(counter& c) const {
    const joules_read now = read_joules(c.file);
    reading result = stamped(now.joules, root_.now());
    if (result.value && now.stamp_ns) result.time_ns = c.clock.at(*now.stamp_ns, result.time_ns);
    return result;
  }

  // A change since the last check applies to every counter until its next good reading.
  void note_changes() {
    const auto changed = [](held_file& file, number_read& last) {
      const number_read now = file.read_number();
      if (now.error != 0) return false;
      return std::exchange(last, now).number != now.number;
    };
    if (changed(generation_, last_generation_)) at_least(continuity::doubtful);
    if (changed(startup_, last_startup_)) at_least(continuity::broken);
  }

  void at_least(continuity c) {
    for (continuity& p : pending_) p = std::max(p, c);
  }

  sysroot root_;
  std::vector<counter> counters_;
  std::vector<continuity> pending_;
  held_file freshness_, generation_, startup_;
  number_read last_generation_, last_startup_;
};

}  // namespace

std::unique_ptr<source> make_pm_counters(const sysroot& root) {
  return std::make_unique<pm_counters>(root, find_counters(root));
}

}  // namespace lull::meter
