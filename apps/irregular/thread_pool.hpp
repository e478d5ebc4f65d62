// Threads of a PE that share its work.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace irregular {

// The thread that makes it and size - 1 others, which sleep between two pieces of work: making threads anew for each
// would cost more than a small pass does.
class thread_pool {
 public:
  explicit thread_pool(unsigned size) : size_(size) {
    try {
      for (unsigned member = 1; member < size; ++member) others_.emplace_back([this, member] { follow(member); });
    } catch (const std::system_error& failure) {
      const std::size_t begun = others_.size() + 1;
      dismiss();  // or those that are there would be waited for without end
      throw std::runtime_error("--threads " + std::to_string(size) + ": " + std::to_string(begun) +
                               " could be begun: " + failure.code().message() + "; ask for fewer");
    }
  }
  ~thread_pool() { dismiss(); }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  [[nodiscard]] unsigned size() const { return size_; }

  // work(member, begin, end) for the consecutive shares of 0 ≤ i < count, each by one of them. Returns when all have
  // ended.
  template <class Work>
  void share(std::size_t count, Work&& work) {
    if (size_ == 1) return work(0U, std::size_t{0}, count);
    task_ = [&, size = size_](unsigned member) noexcept {
      work(member, count * member / size, count * (member + 1) / size);
    };
    working_.store(size_ - 1, std::memory_order_relaxed);
    begin();
    task_(0);
    for (unsigned left = size_ - 1; left != 0; left = working_.load(std::memory_order_acquire)) working_.wait(left);
  }

 private:
  void dismiss() {
    task_ = nullptr;
    begin();
  }
  void begin() {
    pieces_.fetch_add(1, std::memory_order_release);
    pieces_.notify_all();
  }
  void follow(unsigned member) {
    for (std::uint32_t seen = 0;; ++seen) {
      pieces_.wait(seen, std::memory_order_acquire);
      if (!task_) return;
      task_(member);
      if (working_.fetch_sub(1, std::memory_order_release) == 1) working_.notify_one();
    }
  }

  unsigned size_;
  std::function<void(unsigned)> task_;  // null: there will be none
  std::atomic<std::uint32_t> pieces_{0};
  std::atomic<unsigned> working_{0};
  std::vector<std::jthread> others_;  // last, so that they end first
};

}  // namespace irregular
