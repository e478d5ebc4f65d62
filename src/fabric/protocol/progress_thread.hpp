// A thread that handles the operations of other nodes on this process, so that the program need not take part.
//
// It sleeps in epoll on UCX's event descriptor and costs nothing while nothing arrives. While a thread of the program
// drives the transfers itself (begin, progress, end), the progress thread does not watch the descriptor: a message then
// wakes only the thread that waits for it. Its sleeps are bounded by LULL_WAIT_TIMEOUT_MS.
//
// It stands back while the program's thread streams, that is, while it sends one message after the other and makes
// opportunistic progress, or begins one wait soon after the end of another. Arrivals in between are left to that
// thread's next turn, for at most model::progress_costs::most_stand_back_ns after its last one.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "base/descriptor.hpp"
#include "fabric/protocol/protocol.hpp"
#include "fabric/protocol/transport_sleep.hpp"
#include "model/machine/machine.hpp"
#include "wait/progress_source.hpp"
#include "wait/waiting.hpp"

namespace lull::fabric {

class progress_thread final : public wait::progress_source {
 public:
  // `cores`: the cores for the threads of this PE.
  progress_thread(protocol& messages, bool oversubscribed, int cores);
  ~progress_thread();  // joins the thread
  progress_thread(const progress_thread&) = delete;
  progress_thread& operator=(const progress_thread&) = delete;

  void begin() override;
  bool progress() override { return protocol_.progress_unless_another_does(); }
  void end() override;
  void hand_over() override;

  // One round of progress for a thread that tests instead of waiting.
  void test();

  wait::announcement announce_sleep() override { return sleeper_.announce(); }
  wait::wake sleep(std::int64_t timeout_ns) override { return sleeper_.sleep(timeout_ns); }
  void retract_sleep() override { sleeper_.retract(); }
  // Call after each change, by this process's progress, of anything that a wait may check, with a fence in between (a
  // ring of the doorbell is one): the thread asleep on the transport may not be the one that handled the change.
  void wake_sleeper() { sleeper_.wake(); }

  void serve_at_full(std::shared_ptr<wait::core_frequency> frequency) override;
  [[nodiscard]] std::int64_t serving_cpu_ns() const override;

 private:
  void serve();
  void serve_what_has_arrived();
  [[nodiscard]] bool streams();
  void take_over();
  void stand_back_while_main_streams();
  void nap(std::int64_t ns);
  void watch_or_not();

  protocol& protocol_;
  transport_sleep sleeper_;  // of the program
  bool oversubscribed_;      // PEs outnumber the cores they may use
  int cores_;
  const model::progress_costs& costs_;
  std::int64_t timeout_ns_;
  descriptor kick_fd_;  // asks the progress thread to check the transport or stopping_
  descriptor epoll_fd_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> driving_{0};                   // number of the program's threads that drive
  std::atomic<bool> standing_back_{false};        // the progress thread will check by itself, soon
  std::atomic<std::int64_t> last_wait_ended_{0};  // ns
  std::mutex watch_lock_;
  bool watched_ = true;            // the event descriptor, by epoll_fd_; under watch_lock_
  std::uint64_t rounds_seen_ = 0;  // of protocol::opportunistic_rounds(), by the progress thread
  wait::shared_frequency frequency_;
  std::thread thread_;
};

}  // namespace lull::fabric
