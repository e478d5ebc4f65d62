// Decides which thread handles the arrivals of a channel, where several threads of a PE handle channels at once.
//
// Initially not shared: there is one thread, and every claim is granted without a check. When shared, one thread at a
// time holds a claim, and the next holder sees what the previous one has done.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

namespace lull::aggregate {

class channel_claims {
 public:
  void share(std::size_t channels) { held_ = std::make_unique<std::atomic<bool>[]>(channels); }
  [[nodiscard]] bool shared() const { return held_ != nullptr; }
  [[nodiscard]] bool is_held(std::size_t channel) const {
    return held_ && held_[channel].load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool try_take(std::size_t channel) {
    return !held_ || (!is_held(channel) && !held_[channel].exchange(true, std::memory_order_acquire));
  }
  // A thread that looked in between has skipped the channel, so the caller must look at it once more.
  void give_back(std::size_t channel) {
    if (!held_) return;
    held_[channel].store(false, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  std::unique_ptr<std::atomic<bool>[]> held_;  // by channel
};

}  // namespace lull::aggregate
