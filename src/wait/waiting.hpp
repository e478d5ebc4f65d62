// The only place where a PE waits: for a barrier, a signal, a reply, or space in a buffer.
//
// until(what, ready) returns when ready() holds; `what` describes the wait for policies and statistics. Until then it
// drives transfers (`progress`), spins, yields or sleeps as the policy says, and counts. Every sleep has a time-out,
// after which the thread tests ready() again. A time-out after which ready() holds counts as a missed wake-up
// (`missed`); in shared memory there should be none.
//
// A wait that only messages can end sleeps on the transport, where the message itself wakes it. A wait that a store of
// another PE can end sleeps on the doorbell, while the progress thread handles messages. If several threads wait for
// messages, one of them sleeps on the transport, and wakes each of the others when it has handled the message for it,
// by its completion_flag if it has one. RDMA writes cause neither a ring nor a message: a sleeping thread publishes the
// memory that it watches for them (public_waits.hpp).
//
// Several threads may use it at once; only the waiting thread calls its ready(). If more threads of the process have
// waited than the PE has cores, they wait as on an oversubscribed host.
#pragma once
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/thread_sanitizer.hpp"
#include "wait/awaited.hpp"
#include "wait/completion_flag.hpp"
#include "wait/doorbell.hpp"
#include "wait/frequency.hpp"
#include "wait/history.hpp"
#include "wait/policies.hpp"
#include "wait/progress_source.hpp"
#include "wait/public_waits.hpp"
#include "wait/relax.hpp"
#include "wait/statistics.hpp"
#include "wait/timer_slack.hpp"

namespace lull::wait {

// The environment of a PE, as far as waiting depends on it.
struct wait_surroundings {
  bool oversubscribed = false;  // there are more PEs than cores that they may use
  int cores = 1;                // for the threads of this PE
  bool alone = false;           // no other PE shares this PE's memory: only its own progress stores there
  bool is_reporter = false;     // prints messages that concern the whole job on stderr
};

class waiting {
 public:
  // Reads the settings LULL_WAIT* and LULL_STATS; throws if one is wrong. `bell` is this PE's doorbell; `source` may be
  // null if all PEs share memory.
  waiting(doorbell& bell, progress_source* source, const wait_surroundings& where);

  template <class Ready>
  void until(const awaited& what, Ready&& ready) {
    if (!ready()) [[unlikely]]
      wait(what, ready);
    tsan_acquire();
  }

  // For a caller that tests repeatedly instead of waiting, on an oversubscribed host: lets another PE run.
  static void pass_on() { sched_yield(); }

  // Call before the first wait under a policy other than that of the PE: opens the frequency files if the policy needs
  // them, or reports why it cannot and continues without.
  void prepare(wait_policy policy);
  // Declares that threads of this process store into its memory at any time. Only waits with by_messages_only may then
  // sleep on the transport.
  void expect_stores_of_threads() { alone_.store(false, std::memory_order_relaxed); }

  // Publishes waits in `word` from now on, because others write `memory` by RDMA. Call before the first of them does.
  void publish(std::uint64_t& word, std::span<const std::byte> memory) { published_.emplace(word, memory); }

  // Statistics of operations. Call count() only when statistics_on().
  [[nodiscard]] bool has_table() const { return statistics_.has_table(); }
  [[nodiscard]] bool statistics_on() const { return statistics_.detailed(); }
  void clear_table() { statistics_.clear_table(); }
  void keep_table(bool on) { statistics_.keep_table(on); }
  void count(operation what, std::size_t bytes) { statistics_.operation_done(what, bytes); }
  [[nodiscard]] wait_counts statistics() const { return statistics_.totals(); }
  [[nodiscard]] wait_table table() const;
  // The account of the choices for waits, and of their outcomes.
  [[nodiscard]] std::vector<model::choice_account> choices() { return history_.accounts(); }

  // Whether more than `cores` threads of this process have waited and still run.
  [[nodiscard]] static bool threads_outnumber(int cores) noexcept {
    return threads_.load(std::memory_order_relaxed) > cores;
  }

  [[nodiscard]] wait_policy policy() const { return policy_; }
  [[nodiscard]] const wait_limits& limits() const { return limits_; }

 private:
  // Lowers the frequency at most once in a wait, and raises it at the end of the wait.
  class slow_stretch {
   public:
    slow_stretch(core_frequency* frequency, lowering when, std::int64_t after_ns)
        : frequency_(when == lowering::never ? nullptr : frequency), after_ns_(after_ns) {
      if (frequency_ && when == lowering::at_once) lower();
    }
    slow_stretch(const slow_stretch&) = delete;
    slow_stretch& operator=(const slow_stretch&) = delete;
    ~slow_stretch() {
      if (lowered_) frequency_->raise();
    }
    void spinning() {
      if (frequency_ && !lowered_ && now_ns() >= after_ns_) lower();
    }
    void about_to_sleep() {
      if (frequency_ && !lowered_) lower();
    }

   private:
    void lower() {
      frequency_->lower();
      lowered_ = true;
    }
    core_frequency* frequency_;
    std::int64_t after_ns_;
    bool lowered_ = false;
  };

  template <class Ready>
  void wait(const awaited& what, Ready& ready) {
    const wait_policy chosen = what.policy.value_or(policy_);
    count_this_thread();
    const wait_case here{threads_outnumber(where_.cores) ? limits_oversubscribed_ : limits_, what, history_};
    switch (chosen) {
#define LULL_WAIT_WITH(identifier, name, type, lowers) \
  case wait_policy::identifier:                        \
    return wait_with(type(here), chosen, what, ready);
      LULL_WAIT_POLICIES(LULL_WAIT_WITH)
#undef LULL_WAIT_WITH
    }
  }

  template <class Policy, class Ready>
  void wait_with(Policy policy, wait_policy chosen, const awaited& what, Ready& ready) {
    const std::int64_t begin = now_ns();
    const std::int64_t cpu_begin = statistics_.detailed() ? thread_cpu_ns() : 0;
    wait_counts counts;
    counts.waits = 1;
    slow_stretch slow(frequency_.get(), when_to_lower(chosen, what, limits_), begin + limits_.spin_ns);
    spinner spin;
    if (source_) source_->begin();
    for (;;) {
      const bool traffic = source_ && source_->progress();
      if (ready()) break;
      switch (policy.next(traffic)) {
        case step::spin:
          slow.spinning();
          spin.relax();
          break;
        case step::yield:
          slow.spinning();
          sched_yield();
          break;
        case step::sleep:
          slow.about_to_sleep();
          sleep(bounded(policy.plan(), what), what, ready, counts);
      }
    }
    if (source_) source_->end();
    counts.ns_waited = now_ns() - begin;
    if constexpr (requires { policy.ended(counts.ns_waited); }) policy.ended(counts.ns_waited);
    if constexpr (requires { policy.decided(); })
      if (policy.decided()) history_.decided(*policy.decided(), limits_.spin_ns, counts);
    if (statistics_.detailed()) counts.ns_cpu = thread_cpu_ns() - cpu_begin;
    statistics_.waited(what, counts);
  }

  // Counts the calling thread in threads_, once, until it ends.
  static void count_this_thread() noexcept;

  static sleep_plan bounded(const sleep_plan& plan, const awaited& what) {
    return what.longest_sleep_ns != 0 && what.longest_sleep_ns < plan.ns ? sleep_plan{what.longest_sleep_ns, true}
                                                                         : plan;
  }

  template <class Ready>
  void sleep(const sleep_plan& plan, const awaited& what, Ready& ready, wait_counts& counts) {
    const bool by_writes = published_ && what.by_stores && !what.by_messages_only;
    const public_waits::sleeper published(by_writes ? &*published_ : nullptr, what.where);
    if (source_ && (what.by_messages_only || alone_.load(std::memory_order_relaxed))) {
      switch (source_->announce_sleep()) {
        case announcement::busy:
          return;
        case announcement::taken:
          break;
        case announcement::announced:
          if (ready() || (what.ends_with && !what.ends_with->announce_sleep_on_transport()))
            return source_->retract_sleep();
          asleep(plan, counts, ready, [&] { return source_->sleep(plan.ns); });
          if (what.ends_with) what.ends_with->awake();
          return;
      }
    }
    if (source_) source_->hand_over();
    asleep(plan, counts, ready, [&] {
      return what.ends_with ? what.ends_with->sleep(plan.ns) : bell_.sleep(ready, plan.ns, what.by_stores);
    });
    if (source_) source_->begin();
  }

  template <class Ready, class Sleep>
  void asleep(const sleep_plan& plan, wait_counts& counts, Ready& ready, Sleep&& until_woken) {
    if (plan.by_timer) wake_without_slack();
    const std::int64_t begin = now_ns();
    ++counts.sleeps;
    const wake woken = until_woken();
    const std::int64_t slept = now_ns() - begin;
    counts.ns_asleep += slept;
    if (woken != wake::timed_out) return;
    if (plan.by_timer) return history_.timer_was_late(slept - plan.ns);
    ++counts.timeouts;
    if (ready()) ++counts.missed;
  }

  static inline std::atomic<int> threads_{0};  // threads of this process that have waited and still run

  doorbell& bell_;
  std::optional<public_waits> published_;
  progress_source* source_;
  wait_policy policy_;
  wait_limits limits_, limits_oversubscribed_;
  wait_surroundings where_;
  std::atomic<bool> alone_;
  wait_history history_;
  wait_statistics statistics_;
  std::mutex preparing_;
  bool asked_for_frequency_ = false;  // guarded by preparing_
  shared_frequency frequency_;
};

}  // namespace lull::wait
