// One process of a program: executes its operations one after the other, and concurrently those of the collectives that
// it takes part in.
//
// An operation that takes time leaves its activity in a waiting state, which a host (resume) or the protocol
// (completed) ends. The executor knows nothing of how messages travel; hosts and protocol know nothing of operations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netsim/program/activity.hpp"
#include "netsim/program/pace.hpp"
#include "netsim/program/program.hpp"
#include "netsim/program/waits.hpp"

namespace lull::netsim {

class program_run;

// A group as seen by one of its processes.
struct membership {
  std::uint32_t group;
  std::uint32_t rank;       // in the group
  std::uint32_t size;       // of the group
  std::uint32_t calls = 0;  // collectives of the group so far
};

// How a process spent its time from the begin of its program to the end. The overhead of sends counts as sending, that
// of receives as waiting.
struct time_spent {
  picoseconds computing = 0;
  picoseconds sending = 0;  // until messages have left the node
  picoseconds waiting = 0;  // for messages, answers and collectives
};

class alignas(64) executor final : public completions {
 public:
  executor(program_run& of, std::uint32_t rank, picoseconds start);

  // Continues an activity whose computation or overhead is over.
  void resume(std::uint32_t number, picoseconds now);
  // Reports that a request of an activity will be complete at that time, or is complete.
  void will_complete(std::uint32_t number, std::uint32_t slot, picoseconds at);
  void completed(std::uint32_t number, std::uint32_t slot, picoseconds now);
  // Prefetches what these functions touch.
  void fetch(std::uint32_t number, std::uint32_t slot) const {
    (number == 0 ? program_ : *collectives_[number - 1]).pending.fetch(slot);
  }
  // Reports that a put or an atomic of another process has changed this process's memory.
  void memory_changed(picoseconds now);
  [[nodiscard]] bool complete(std::uint32_t request) const override;

  // Whether the process waits for a message of `from` now. After its program has ended this is true for all messages,
  // so that they are all handled.
  [[nodiscard]] bool wants_message(std::uint32_t from) const;

  [[nodiscard]] bool ended() const { return program_.is == activity::state::ended; }
  // Until `end`, which is not before the last event.
  [[nodiscard]] time_spent spent(picoseconds end) const;

  [[nodiscard]] process_wait waits_for() const;

 private:
  void advance(std::uint32_t number, picoseconds now);
  [[nodiscard]] bool perform(std::uint32_t number, picoseconds now);
  void enter_unit(std::uint32_t kind, picoseconds now);
  void end_unit(picoseconds now);
  [[nodiscard]] const operation* next_executed(stream& of);
  [[nodiscard]] picoseconds computing(picoseconds duration);
  [[nodiscard]] bool put_is_here(const operation& o) const;
  [[nodiscard]] bool issue(std::uint32_t number, picoseconds now);
  [[nodiscard]] bool await(std::uint32_t number, std::uint32_t slot, picoseconds now);
  [[nodiscard]] bool take(std::uint32_t number, std::uint32_t slot, picoseconds now);
  [[nodiscard]] bool sleep(std::uint32_t number, activity::state as, picoseconds now, picoseconds lasts);
  void wake(std::uint32_t number, picoseconds now);
  [[nodiscard]] bool await_any(std::uint32_t number, picoseconds now);
  void schedule_completion(std::uint32_t number, std::uint32_t slot);
  void join(const operation& o, std::uint32_t slot, picoseconds now);
  [[nodiscard]] bool end(std::uint32_t number, picoseconds now);
  void record_wait(activity& a, picoseconds came, std::uint32_t cause, picoseconds now);
  void record_cause(activity& a, std::uint32_t slot);
  [[nodiscard]] membership& member_of(std::uint32_t group);
  [[nodiscard]] std::uint32_t rank_in_job(const activity& a, std::uint32_t peer) const;
  [[nodiscard]] process_wait wait_of(const activity& a) const;
  void add(time_spent& to, const activity& a, picoseconds until) const;
  [[noreturn]] void mistake(const std::string& found, const std::string& fix) const;

  // By number; the program is 0.
  [[nodiscard]] activity& of(std::uint32_t number) { return number == 0 ? program_ : *collectives_[number - 1]; }

  activity program_;
  std::vector<std::unique_ptr<activity>> collectives_;  // entries of ended collectives are reused
  program_run& run_;
  pace pace_;
  std::uint32_t rank_;
  std::vector<membership> groups_;
  time_spent spent_;
  std::uint32_t runs_ = 0;  // number of ended runs
  picoseconds run_began_;
  std::uint32_t iterations_ = 0;  // number of ended iterations
  bool told_iterations_ = false;  // whether this run has reported any iteration
  // Of a sampled simulation.
  std::uint32_t units_ = 0;   // begun in this run
  bool leaves_out_ = false;   // the current unit is not executed
  picoseconds spared_ = 0;    // computing of the current unit that was cut
  picoseconds in_run_ = 0;    // computing of this run
  picoseconds sent_for_ = 0;  // sending before the current unit
  picoseconds now_ = 0;       // when a stream was last asked for its next operation
};

}  // namespace lull::netsim
