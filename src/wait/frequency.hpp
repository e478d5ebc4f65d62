// The frequency of this PE's core, lowered while waiting and restored: Linux' cpufreq, by whichever of three files the
// site lets this user write, in this order:
//
//   scaling_setspeed               under the governor `userspace`: the frequency itself
//   scaling_max_freq               the limit within which the governor chooses
//   energy_performance_preference  what the processor itself favours
//
// States: made (the files are open, what they said is remembered) -> lower()/raise() in pairs, from any thread ->
// destroyed, with the original in force. Lowered means: somebody waits and nobody works. lower() and raise() bracket a
// wait; work_begin() and work_end() bracket the progress thread's serving, during a wait of somebody else.
//
// Nothing stays lowered when the process dies at any moment, kill -9 included: a guard, a small process of its own,
// sees the process end and writes the originals back. (Only a kill of both at once, or of the node, can prevent it.)
//
// Only for a PE that has a core to itself, its hardware threads included: its affinity mask must lie within one core,
// and that core must not share its frequency with others. make() says why not, in words for a person.
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
  // `root` is put before /sys, for trying it on a copy; "/" is this machine. `cores`: those this PE may run on.
  [[nodiscard]] static attempt make(const std::string& root, std::span<const int> cores);

  core_frequency(const core_frequency&) = delete;
  core_frequency& operator=(const core_frequency&) = delete;
  ~core_frequency();

  void lower();
  void raise();
  void work_begin();
  void work_end();

  [[nodiscard]] const std::string& method() const { return method_; }
  // Writes of all cores together count as one change.
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
  std::mutex lock_;  // guards what follows
  int waiting_ = 0;
  int working_ = 0;
  bool lowered_ = false;
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::int64_t> ns_changing_{0};
};

struct core_frequency::attempt {
  std::unique_ptr<core_frequency> frequency;  // null when it cannot be
  std::string problem;                        // then: what was found, and what to ask for
};

// The frequency of one thread's core, set once while others may look.
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
