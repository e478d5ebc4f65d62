// The only place where a PE waits: for a barrier, a signal, a reply, room in a buffer.
//
// until(what, ready) returns when ready() holds; `what` says what is awaited, for policies and statistics. Meanwhile it
// drives the transfers (`progress`), spins, yields or sleeps as the policy says, and counts. A sleep is always bounded:
// after the time-out it looks again by itself, and a time-out that finds ready() true is counted as a missed wake-up
// (`statistics::missed`), which should stay 0 in shared memory.
#pragma once
#include <sched.h>

#include <cstdint>

#include "fabric/wait/awaited.hpp"
#include "fabric/wait/doorbell.hpp"
#include "fabric/wait/policy.hpp"

namespace lull::fabric {

// What drives transfers while a PE waits actively. begin() takes that duty over from the agent, end() hands it back.
class progress_source {
 public:
  virtual void begin() = 0;
  virtual void progress() = 0;
  virtual void end() = 0;

 protected:
  ~progress_source() = default;
};

struct wait_statistics {
  std::uint64_t waits = 0;  // calls of until() that did not find it ready at once
  std::uint64_t sleeps = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t missed = 0;  // time-outs that found what they waited for: a wake-up nobody sent
  std::int64_t ns_waited = 0;
  std::int64_t ns_asleep = 0;
};

class waiting {
 public:
  // From the LULL_WAIT* settings; `bell` is this PE's doorbell, `source` may be null when all PEs share memory.
  waiting(doorbell& bell, progress_source* source, bool oversubscribed);

  template <class Ready>
  void until(const awaited& what, Ready&& ready) {
    if (ready()) [[likely]]
      return;
    if (what.policy.value_or(policy_) == wait_policy::poll)
      wait_with(poll_policy{limits_}, ready);
    else
      wait_with(interrupt_policy{limits_}, ready);
  }

  // For a caller that tests again and again instead of waiting, when PEs outnumber cores: another PE gets its turn.
  static void pass_on() { sched_yield(); }

  [[nodiscard]] const wait_statistics& statistics() const { return statistics_; }
  [[nodiscard]] wait_policy policy() const { return policy_; }

 private:
  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

  template <class Policy, class Ready>
  void wait_with(Policy policy, Ready& ready) {
    const std::int64_t begin = now_ns();
    ++statistics_.waits;
    if (source_) source_->begin();
    for (;;) {
      if (source_) source_->progress();
      if (ready()) break;
      switch (policy.next()) {
        case step::spin:
          relax();
          break;
        case step::yield:
          sched_yield();
          break;
        case step::sleep:
          if (source_) source_->end();
          sleep(ready);
          if (source_) source_->begin();
      }
    }
    if (source_) source_->end();
    statistics_.ns_waited += now_ns() - begin;
  }

  template <class Ready>
  void sleep(Ready& ready) {
    const std::int64_t begin = now_ns();
    ++statistics_.sleeps;
    if (bell_.sleep(ready, limits_.timeout_ns) == wake::timed_out) {
      ++statistics_.timeouts;
      if (ready()) ++statistics_.missed;
    }
    statistics_.ns_asleep += now_ns() - begin;
  }

  doorbell& bell_;
  progress_source* source_;
  wait_policy policy_;
  wait_limits limits_;
  wait_statistics statistics_;
};

}  // namespace lull::fabric
