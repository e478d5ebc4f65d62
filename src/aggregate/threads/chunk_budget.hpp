// The memory limit for the chunks of all threads of a PE (producer.hpp). Several threads may use it at once.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

namespace lull::aggregate {

class chunk_budget {
 public:
  chunk_budget(std::size_t bytes, std::size_t cores_of_pe) : limit_(bytes), cores_of_pe_(cores_of_pe) {}

  int come() { return producers_.fetch_add(1, std::memory_order_relaxed) + 1; }  // returns the number of producers now
  void go() { producers_.fetch_sub(1, std::memory_order_release); }
  [[nodiscard]] int producers() const { return producers_.load(std::memory_order_acquire); }

  // The size of one chunk, for a thread that has `chunks` of them: the usual size, or its share if that is smaller.
  [[nodiscard]] std::size_t bytes_of_each(std::size_t usual, std::size_t chunks) const {
    const std::size_t threads = std::max(cores_of_pe_, static_cast<std::size_t>(producers()));
    return std::min(usual, limit_ / std::max<std::size_t>(1, threads) / std::max<std::size_t>(1, chunks));
  }
  void take(std::size_t bytes) { taken_.fetch_add(bytes, std::memory_order_relaxed); }
  bool try_take(std::size_t bytes) {  // false: it would exceed the limit
    const bool there_is = taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_;
    if (!there_is) give(bytes);
    return there_is;
  }
  void give(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool exceeded() const { return taken() > limit_; }

 private:
  std::size_t limit_, cores_of_pe_;
  std::atomic<int> producers_{0};
  std::atomic<std::size_t> taken_{0};  // bytes
};

}  // namespace lull::aggregate
