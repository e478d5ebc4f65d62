// The RAPL counters of Intel and AMD processors as perf events: /sys/bus/event_source/devices/power.
//
// type, cpumask (one CPU for each package or die), events and their scale (2^-32 J) come from sysfs; the kernel handles
// the quirks of every model and extends the counters to 64 bits, so nothing wraps. They are the counters that
// powercap.cpp reads: choice.cpp uses only one of the two. core and gpu are parts of the package, so only pkg, ram and
// psys become channels. (Linux, arch/x86/events/rapl.c.) On AMD, Linux 6.9 to 6.11 list a CPU of each die, and each
// shows the counter of its package: only the first of them is read.
//
// Such an event belongs to no process (pid -1 on a given CPU), which needs perf_event_paranoid <= 0 or CAP_PERFMON.
// Which of them suffices differs between kernels, so the source tries instead of guessing.
#include "meter/sources/perf.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/topology.hpp"

namespace lull::meter {
namespace {

constexpr std::string_view folder = "/sys/bus/event_source/devices/power";
constexpr seconds update_interval{1e-3};
constexpr std::int64_t slack_ns = 100'000'000;

struct known_event {
  std::string_view name, channel;
  domain covers;
  double most_watts;  // generous: distinguishes a jump from a difference
};
constexpr std::size_t most_cpus = 4096;  // on which the source looks for events
constexpr std::array known_events{known_event{"energy-psys", "psys", domain::node, 10'000},
                                  known_event{"energy-pkg", "package", domain::package, 1000},
                                  known_event{"energy-ram", "dram", domain::dram, 500}};

class system_calls final : public perf_kernel {
 public:
  [[nodiscard]] opened_event open(std::uint32_t type, std::uint64_t config, int cpu) const override {
    perf_event_attr wanted{};
    wanted.type = type;
    wanted.size = sizeof wanted;
    wanted.config = config;
    const long descriptor = syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return descriptor < 0 ? opened_event{-1, errno} : opened_event{static_cast<int>(descriptor), 0};
  }

  [[nodiscard]] number_read read(int descriptor) const override {
    number_read result;
    const ssize_t length = ::read(descriptor, &result.number, sizeof result.number);
    if (length == sizeof result.number) return result;
    return {0, length < 0 ? errno : EIO};  // 0 bytes: the event is in error; its CPU may be offline
  }
};

// "event=0x02": the PMU has no other field.
std::optional<std::uint64_t> code_in(const std::string& text) {
  constexpr std::string_view prefix = "event=0x";
  if (!text.starts_with(prefix)) return std::nullopt;
  std::uint64_t code = 0;
  const auto [end, status] = std::from_chars(text.data() + prefix.size(), text.data() + text.size(), code, 16);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return code;
}

struct event {
  meter::channel channel;
  std::uint64_t code;
  int cpu;
};

// Package of a CPU, and its die if a package has several; its index in the mask if the machine does not tell.
std::string place_of(const sysroot& root, int cpu, std::size_t position, bool dies) {
  const std::string topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
  const std::string package = root.text(topology + "physical_package_id");
  if (package.empty()) return std::to_string(position);
  return dies ? fmt::format("{}-die-{}", package, root.text(topology + "die_id")) : package;
}

std::vector<event> find_events(const sysroot& root) {
  std::vector<int> cpus = numbers_in(root.text(fmt::format("{}/cpumask", folder)));
  if (cpus.size() > most_cpus) cpus.resize(most_cpus);
  if (const std::string cpuinfo = root.text("/proc/cpuinfo");
      cpuinfo.find("AuthenticAMD") != std::string::npos || cpuinfo.find("HygonGenuine") != std::string::npos) {
    std::vector<std::string> seen;
    std::erase_if(cpus, [&](int cpu) {
      const std::string package = place_of(root, cpu, static_cast<std::size_t>(cpu), false);
      if (std::ranges::find(seen, package) != seen.end()) return true;
      seen.push_back(package);
      return false;
    });
  }
  std::vector<std::string> places;
  for (std::size_t i = 0; i < cpus.size(); ++i) places.push_back(place_of(root, cpus[i], i, false));
  std::vector<std::string> different = places;
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() != places.size())
    for (std::size_t i = 0; i < cpus.size(); ++i) places[i] = place_of(root, cpus[i], i, true);

  std::vector<event> events;
  for (const known_event& known : known_events) {
    const std::string path = fmt::format("{}/events/{}", folder, known.name);
    const auto code = code_in(root.text(path));
    if (!code || root.text(path + ".unit") != "Joules") continue;
    const std::string text = root.text(path + ".scale");
    double joules = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), joules).ec != std::errc{} || !(joules > 0)) continue;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const bool whole = known.covers == domain::node;
      events.push_back(
          {.channel = {.name = whole ? "perf:psys" : fmt::format("perf:{}-{}", known.channel, places[i]),
                       .covers = known.covers,
                       .kind = kind::vendor_model,
                       .interval = update_interval,
                       .basis = fmt::format("{} on CPU {}", root.locate(path), cpus[i]),
                       .limits = {.range = 0, .max_per_second = known.most_watts / joules, .slack_ns = slack_ns},
                       .joules_per_unit = {joules, joules, joules},
                       .watts = {}},
           .code = *code,
           .cpu = cpus[i]});
      if (whole) break;  // there is one platform counter, on any CPU
    }
  }
  return events;
}

availability refused(const sysroot& root, int error) {
  const std::string paranoid = root.text("/proc/sys/kernel/perf_event_paranoid");
  availability why{false,
                   fmt::format("perf_event_open: {} (perf_event_paranoid is {})", describe_errno(error), paranoid), ""};
  if (error != EACCES && error != EPERM) return why;
  // Some kernels require the capability even at 0.
  const bool strict = !paranoid.empty() && !paranoid.starts_with('-') && paranoid != "0";
  why.fix = strict ? "sudo sysctl kernel.perf_event_paranoid=0"
                   : "sudo setcap cap_perfmon=ep \"$(readlink -f \"$(command -v python3)\")\"";
  return why;
}

struct opened {
  std::vector<descriptor> events;
  availability state;
};

opened open_all(const sysroot& root, const std::vector<event>& events, const perf_kernel* kernel) {
  if (events.empty()) return {{}, {false, "the kernel has no power PMU here", ""}};
  if (kernel == nullptr) {
    const std::string paranoid = root.text("/proc/sys/kernel/perf_event_paranoid");
    if (!paranoid.empty() && paranoid != "0" && !paranoid.starts_with('-')) return {{}, refused(root, EACCES)};
    return {{}, {false, "perf events of another machine cannot be opened", ""}};
  }
  std::uint32_t type = 0;
  const std::string text = root.text(fmt::format("{}/type", folder));
  std::from_chars(text.data(), text.data() + text.size(), type);
  opened result;
  for (const event& e : events) {
    const opened_event now = kernel->open(type, e.code, e.cpu);
    if (now.error != 0) return {{}, refused(root, now.error)};
    result.events.emplace_back(now.descriptor);
  }
  result.state = {true, "", ""};
  return result;
}

source_description describe(const std::vector<event>& events, availability state) {
  source_description result{.name = "perf",
                            .kind = kind::vendor_model,
                            .unit = "2^-32 J",
                            .interval = update_interval,
                            .range = {},
                            .permission = "perf_event_paranoid <= 0 or CAP_PERFMON",
                            .channels = {},
                            .state = std::move(state)};
  for (const event& e : events) result.channels.push_back(e.channel);
  return result;
}

class perf final : public source {
 public:
  perf(const sysroot& root, const std::vector<event>& events, opened counters,
       std::shared_ptr<const perf_kernel> kernel)
      : source(describe(events, std::move(counters.state))),
        root_(root),
        kernel_(std::move(kernel)),
        events_(std::move(counters.events)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < events_.size(); ++i) into[i] = stamped(kernel_->read(events_[i].get()), root_.now());
  }

 private:
  sysroot root_;
  std::shared_ptr<const perf_kernel> kernel_;
  std::vector<descriptor> events_;
};

}  // namespace

std::shared_ptr<const perf_kernel> running_kernel() { return std::make_shared<system_calls>(); }

std::unique_ptr<source> make_perf(const sysroot& root, std::shared_ptr<const perf_kernel> kernel) {
  const std::vector<event> events = find_events(root);
  opened counters = open_all(root, events, kernel.get());
  return std::make_unique<perf>(root, events, std::move(counters), std::move(kernel));
}

std::unique_ptr<source> make_perf(const sysroot& root) {
  return make_perf(root, root.is_this_machine() ? running_kernel() : nullptr);
}

}  // namespace lull::meter
