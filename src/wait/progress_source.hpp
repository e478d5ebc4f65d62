// What drives transfers while a PE waits, as waiting sees it.
//
// A thread that waits actively takes the duty to drive: begin(), then progress() again and again, then end() when it
// goes back to the program, or hand_over() when it sleeps where no message wakes it. While anybody has the duty, the
// progress thread keeps out of the way. After hand_over() it serves at once; after end() it may leave that to the next
// wait for a while, because where one wait follows the other, every turn between them would cost more than it brings.
// Several threads may have the duty at once.
//
// A thread that has the duty may keep it and sleep on the transport itself, one thread at a time:
//
//   announce_sleep()  announced: look once more at what is awaited, then sleep() or retract_sleep()
//                     busy: there is something to progress first
//                     taken: another thread sleeps there already
//
// sleep() ends with the next event, with wake_sleeper(), or after its time.
#pragma once
#include <cstdint>
#include <memory>

#include "wait/doorbell.hpp"
#include "wait/frequency.hpp"

namespace lull::wait {

enum class announcement { announced, busy, taken };

class progress_source {
 public:
  virtual void begin() = 0;
  virtual bool progress() = 0;  // whether there was any traffic
  virtual void end() = 0;
  virtual void hand_over() = 0;

  virtual announcement announce_sleep() = 0;
  virtual wake sleep(std::int64_t timeout_ns) = 0;
  virtual void retract_sleep() = 0;

  // Serve at full frequency from now on, also while others wait at a lowered one.
  virtual void serve_at_full(std::shared_ptr<core_frequency> frequency) = 0;
  // CPU time spent on serving others, in a thread of its own.
  [[nodiscard]] virtual std::int64_t serving_cpu_ns() const = 0;

 protected:
  ~progress_source() = default;
};

}  // namespace lull::wait
