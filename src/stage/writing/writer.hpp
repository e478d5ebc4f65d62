// The thread of a server that writes; another one receives. It takes orders, in their order, and returns answers.
//
// All calls belong to the receiving thread, which sleeps on event_fd().
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/files/storage_limit.hpp"
#include "stage/files/uplink.hpp"
#include "stage/files/write_order.hpp"
#include "stage/writing/gathering.hpp"
#include "stage/writing/idle_frequency.hpp"

namespace lull::stage {

struct written_order {
  int client;
  form what;
  std::uint32_t order;  // number of a whole file
  answer result;
};

class writer {
 public:
  writer(bool sync, const std::vector<int>& clients, const storage_limit& storage);  // throws lull::error
  ~writer();

  void submit(write_order order);
  // Passes on a remark that a client sent after the files it has handed over.
  void heard(int client, remark what, std::uint64_t after = 0);
  void all_have_ended();
  [[nodiscard]] std::vector<written_order> finished();           // since the last call
  [[nodiscard]] bool idle() const { return outstanding_ == 0; }  // every submitted order's answer has been taken
  [[nodiscard]] int event_fd() const { return event_.get(); }    // readable when finished() has something
  [[nodiscard]] server_figures figures() const;                  // when idle: written, writing_ns, failed

 private:
  void work(const std::stop_token& end);
  void enqueue(std::vector<gathering::batch> batches);
  [[nodiscard]] amount write(const gathering::batch& together);

  bool sync_;
  storage_limit storage_;
  idle_frequency core_;
  descriptor event_;
  std::size_t outstanding_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  gathering gathering_;
  std::deque<gathering::batch> batches_;
  std::vector<written_order> finished_;
  server_figures figures_;
  std::jthread thread_;
};

}  // namespace lull::stage
