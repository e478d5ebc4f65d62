// The interface by which waiting threads drive transfers.
//
// A waiting thread calls begin(), then progress() repeatedly, then end() when it returns to the program, or hand_over()
// when it sleeps where no message wakes it. Between begin() and end() or hand_over() the thread drives; several threads
// may do so at once. While any thread drives, the progress thread does not. After hand_over() the progress thread takes
// over at once. After end() it may wait for a while, since another wait often follows soon, and a change of threads
// between the two would cost more than it gains.
//
// A thread that drives may sleep on the transport itself, one thread at a time:
//
//   announce_sleep()  announced: test the condition once more, then sleep() or retract_sleep()
//                     busy: there is something to progress first
//                     taken: another thread sleeps on the transport
//
// sleep() ends with the next event, with wake_sleeper(), or by its time-out.
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

  // Makes the progress thread work at full frequency, even while other threads wait at a low one.
  virtual void serve_at_full(std::shared_ptr<core_frequency> frequency) = 0;
  // CPU time of the progress thread.
  [[nodiscard]] virtual std::int64_t serving_cpu_ns() const = 0;

 protected:
  ~progress_source() = default;
};

}  // namespace lull::wait
