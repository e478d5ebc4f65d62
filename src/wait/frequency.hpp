// Lowers the frequency of this PE's core during waits, by Linux's cpufreq. It writes the first of these files that the
// user may write:
//
//   scaling_setspeed               the frequency, under the governor `userspace`
//   scaling_max_freq               the upper limit of the governor
//   energy_performance_preference  the preference of the processor
//
// States: made (the files are open and their contents saved) → pairs of lower() and raise(), from any thread →
// destroyed, with the saved contents restored. lower() and raise() enclose a wait; work_begin() and work_end() enclose
// the progress thread's work during a wait of another thread. The frequency is low while some thread waits and none
// works.
//
// If the process dies, even by SIGKILL, a guard process restores the contents (frequency_guard.hpp). Only if both are
// killed at once, or the node stops, does the frequency stay low.
//
// The PE must have a core to itself, with its hardware threads: its affinity mask lies within one core, and that core
// shares its frequency with no other. Otherwise make() returns the reason, as text for the user.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::wait {

class core_frequency {
 public:
  struct attempt;
  // `root` is the folder that contains sys; "/" for this machine, another for tests. `cores`: the affinity mask of the
  // PE.
  [[nodiscard]] static attempt make(const std::string& root, std::span<const int> cores);

  core_frequency(const core_frequency&) = delete;
  core_frequency& operator=(const core_frequency&) = delete;
  ~core_frequency();

  void lower();
  void raise();
  void work_begin();
  void work_end();

  [[nodiscard]] const std::string& method() const { return method_; }
  // A change of all files together counts once.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t ns_changing() const { return ns_changing_.load(std::memory_order_relaxed); }

 private:
  struct file {
    descriptor opened;  // for writing
    std::string lowered, original;
  };

  core_frequency(std::string method, std::vector<file> files, descriptor guard_line);
  void apply();

  std::string method_;
  std::vector<file> files_;
  descriptor guard_line_;
  std::mutex lock_;  // guards the following members
  int waiting_ = 0;
  int working_ = 0;
  bool lowered_ = false;
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::int64_t> ns_changing_{0};
};

struct core_frequency::attempt {
  std::unique_ptr<core_frequency> frequency;  // null on failure
  std::string problem;                        // on failure: what was found, and what to do
};

// A core_frequency that one thread sets once, while other threads may call get().
class shared_frequency {
 public:
  void set(std::shared_ptr<core_frequency> frequency) {
    kept_ = std::move(frequency);
    now_.store(kept_.get(), std::memory_order_release);
  }
  [[nodiscard]] core_frequency* get() const { return now_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<core_frequency> kept_;
  std::atomic<core_frequency*> now_{nullptr};
};

}  // namespace lull::wait
