#include "wait/frequency.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/topology.hpp"
#include "wait/frequency_guard.hpp"

namespace lull::wait {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool all_within(const std::vector<int>& some, const std::vector<int>& others) {
  for (const int cpu : some)
    if (std::find(others.begin(), others.end(), cpu) == others.end()) return false;
  return true;
}

std::string numbers(const std::vector<int>& all) {
  std::string text;
  for (const int cpu : all) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

struct way {
  std::string_view file;
  std::string_view lowest;  // a file in the same folder that contains the lowest value, or the value itself
  bool lowest_is_value;
};
constexpr std::array ways{way{"scaling_setspeed", "cpuinfo_min_freq", false},
                          way{"scaling_max_freq", "cpuinfo_min_freq", false},
                          way{"energy_performance_preference", "power", true}};

}  // namespace

core_frequency::attempt core_frequency::make(const std::string& root, std::span<const int> cores) {
  const std::string base = (root == "/" ? "" : root) + "/sys/devices/system/cpu/cpu";
  const std::vector<int> mine(cores.begin(), cores.end());
  if (mine.empty()) return {nullptr, "this PE is not allowed to run on any core"};
  const std::string first = base + std::to_string(mine.front());
  auto siblings = numbers_in(first_line(first + "/topology/thread_siblings_list"));
  if (siblings.empty()) siblings = {mine.front()};
  if (!all_within(mine, siblings))
    return {nullptr, "this PE is not bound to one core (it may run on " + std::to_string(mine.size()) +
                         "); bind each PE to a core, as lull run does and mpirun --bind-to core"};

  std::string tried;
  for (const way& w : ways) {
    std::vector<file> files;
    std::string problem;
    // All hardware threads of the core, which runs at the highest frequency that any of them requests.
    for (const int cpu : siblings) {
      const std::string folder = base + std::to_string(cpu) + "/cpufreq/";
      if (access(folder.c_str(), F_OK) != 0)
        return {nullptr, "there is no " + folder + ": this kernel, or virtual machine, does not scale frequencies"};
      if (const auto together = numbers_in(first_line(folder + "related_cpus")); !all_within(together, siblings))
        return {nullptr, "cores " + numbers(together) + " share one frequency (" + folder +
                             "related_cpus); lowering it would slow other PEs"};
      if (w.file == "scaling_setspeed" && first_line(folder + "scaling_governor") != "userspace") {
        problem = "the governor is " + first_line(folder + "scaling_governor");
        break;
      }
      const std::string path = folder + std::string(w.file);
      file f;
      f.original = first_line(path);
      f.lowered = w.lowest_is_value ? std::string(w.lowest) : first_line(folder + std::string(w.lowest));
      f.opened = descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!f.opened) {
        problem = describe_errno(errno);
        break;
      }
      if (f.original.empty() || f.lowered.empty()) {
        problem = "it has no value to restore";
        break;
      }
      // With a newline, so that in a copy of sysfs a shorter value ends before the rest of a longer one.
      f.original += '\n';
      f.lowered += '\n';
      files.push_back(std::move(f));
    }
    if (problem.empty()) {
      std::vector<restored_file> restored;
      restored.reserve(files.size());
      for (const file& f : files) restored.push_back({f.opened.get(), f.original});
      if (descriptor line = start_frequency_guard(restored)) {
        return {
            std::unique_ptr<core_frequency>(new core_frequency(std::string(w.file), std::move(files), std::move(line))),
            {}};
      }
      problem = "no guard to restore it: " + describe_errno(errno);
    }
    tried += (tried.empty() ? "" : ", ") + std::string(w.file) + " (" + problem + ")";
  }
  return {nullptr, "none of the files in " + first + "/cpufreq can be used: " + tried +
                       "; ask the site's administrators for permission to write scaling_max_freq"};
}

core_frequency::core_frequency(std::string method, std::vector<file> files, descriptor guard_line)
    : method_(std::move(method)), files_(std::move(files)), guard_line_(std::move(guard_line)) {}

core_frequency::~core_frequency() {
  {
    const std::lock_guard hold(lock_);
    waiting_ = 0;
    apply();
  }
  dismiss_frequency_guard(std::move(guard_line_));
}

void core_frequency::lower() {
  const std::lock_guard hold(lock_);
  ++waiting_;
  apply();
}

void core_frequency::raise() {
  const std::lock_guard hold(lock_);
  --waiting_;
  apply();
}

void core_frequency::work_begin() {
  const std::lock_guard hold(lock_);
  ++working_;
  apply();
}

void core_frequency::work_end() {
  const std::lock_guard hold(lock_);
  --working_;
  apply();
}

void core_frequency::apply() {
  const bool wanted = waiting_ > 0 && working_ == 0;
  if (wanted == lowered_) return;
  const std::int64_t begin = now_ns();
  for (const file& f : files_) {
    const std::string& value = wanted ? f.lowered : f.original;
    // A failure here must not disturb the wait; a file that cannot be written stays unchanged.
    (void)!pwrite(f.opened.get(), value.data(), value.size(), 0);
  }
  lowered_ = wanted;
  changes_.fetch_add(1, std::memory_order_relaxed);
  ns_changing_.fetch_add(now_ns() - begin, std::memory_order_relaxed);
}

}  // namespace lull::wait
