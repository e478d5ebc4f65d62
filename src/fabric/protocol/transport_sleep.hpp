// The sleep of a thread of the program on the transport itself, one thread at a time, and how other threads wake it.
//
//   announce()  announced: check once more for what is awaited, then call sleep() or retract()
//               busy: there is something to progress first
//               taken: another thread sleeps there already
//
// sleep() ends with the transport's next event, with wake(), or after its time-out.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/descriptor.hpp"
#include "fabric/protocol/protocol.hpp"
#include "wait/progress_source.hpp"

namespace lull::fabric {

class transport_sleep {
 public:
  explicit transport_sleep(protocol& events);
  transport_sleep(const transport_sleep&) = delete;
  transport_sleep& operator=(const transport_sleep&) = delete;

  wait::announcement announce();
  wait::wake sleep(std::int64_t timeout_ns);
  void retract() { sleeping_.store(0, std::memory_order_release); }
  // Call after a change of anything that the sleeper may wait for, with a fence in between: the sleeper may not be the
  // thread that handled it.
  void wake() {
    if (sleeping_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      nudge();
  }

 private:
  void nudge();

  protocol& protocol_;
  descriptor nudge_fd_;
  std::atomic<int> sleeping_{0};
};

}  // namespace lull::fabric
