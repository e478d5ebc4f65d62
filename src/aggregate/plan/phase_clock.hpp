// What a PE's thread, or all its threads, spend on phases: CPU time from a phase's first buffer to its end, and the
// time asleep.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "fabric/world.hpp"

namespace lull::aggregate {

class phase_clock {
 public:
  phase_clock(fabric::world& world, bool of_all_threads) : world_(world), of_all_threads_(of_all_threads) {}

  [[nodiscard]] bool runs() const { return timing_.load(std::memory_order_relaxed); }
  bool begin() {  // false: another thread has started it
    if (timing_.exchange(true, std::memory_order_relaxed)) return false;
    cpu_begin_ns_ = now_of_cpu();
    begin_sleep();
    return true;
  }
  void begin_sleep() {  // for a phase in which only other threads push
    if (!counting_sleep_) asleep_begin_ns_ = world_.wait().statistics().ns_asleep;
    counting_sleep_ = true;
  }
  void end() {
    if (runs()) cpu_ns_ += now_of_cpu() - cpu_begin_ns_;
    if (counting_sleep_) asleep_ns_ += world_.wait().statistics().ns_asleep - asleep_begin_ns_;
    timing_.store(false, std::memory_order_relaxed);
    counting_sleep_ = false;
  }
  void add_cpu(std::int64_t ns) { cpu_ns_ += ns; }  // of another thread
  void clear() { cpu_ns_ = asleep_ns_ = 0; }

  [[nodiscard]] std::int64_t cpu_ns() const { return cpu_ns_ + (runs() ? now_of_cpu() - cpu_begin_ns_ : 0); }
  [[nodiscard]] std::int64_t asleep_ns() const { return asleep_ns_; }

 private:
  [[nodiscard]] std::int64_t now_of_cpu() const { return of_all_threads_ ? process_cpu_ns() : thread_cpu_ns(); }

  fabric::world& world_;
  bool of_all_threads_;
  std::atomic<bool> timing_{false};
  bool counting_sleep_ = false;
  std::int64_t cpu_begin_ns_ = 0, cpu_ns_ = 0;
  std::int64_t asleep_begin_ns_ = 0, asleep_ns_ = 0;
};

}  // namespace lull::aggregate
