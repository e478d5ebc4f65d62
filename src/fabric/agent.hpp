// The agent: a thread that serves what other nodes ask of this process, so that it need not take part.
//
// It sleeps in epoll on UCX's event descriptor and costs nothing while nothing arrives. While the main thread waits
// actively it drives the transfers itself (begin, progress, end) and the agent keeps out of its way: an agent woken by
// a message then parks until end(). Its sleeps are bounded by the time-out of LULL_WAIT_TIMEOUT_MS.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>

#include "fabric/remote.hpp"
#include "fabric/wait/waiting.hpp"

namespace lull::fabric {

class agent final : public progress_source {
 public:
  explicit agent(remote& transfers);
  ~agent();  // joins the thread
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  void begin() override;
  void progress() override { transfers_.progress(); }
  void end() override;

 private:
  void serve();
  void park_while_main_drives();
  void stand_back_while_main_streams();

  remote& transfers_;
  std::int64_t timeout_ns_;
  int stop_fd_;
  int epoll_fd_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> main_drives_{0};
  std::atomic<std::uint32_t> parked_{0};
  std::uint64_t rounds_seen_ = 0;  // of remote::rounds_in_passing(), by the agent's thread
  std::thread thread_;
};

}  // namespace lull::fabric
