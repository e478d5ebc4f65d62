// Threads of a PE that share its work.
#pragma once
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace irregular {

// The constructing thread and size - 1 others, which wait between two pieces of work, because starting threads for each
// piece would cost more than a small pass. A sleep and a wake-up cost as much, so they poll for some time before they
// sleep; where threads outnumber cores, they yield between two polls.
class thread_pool {
 public:
  explicit thread_pool(unsigned size) : size_(size) {
    try {
      for (unsigned member = 1; member < size; ++member) others_.emplace_back([this, member] { follow(member); });
    } catch (const std::system_error& failure) {
      const std::size_t begun = others_.size() + 1;
      dismiss();  // otherwise the started threads would be waited for without end
      throw std::runtime_error("--threads " + std::to_string(size) + ": " + std::to_string(begun) +
                               " could be started: " + failure.code().message() + "; request fewer");
    }
  }
  ~thread_pool() { dismiss(); }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  [[nodiscard]] unsigned size() const { return size_; }

  // Calls work(member, begin, end) for consecutive shares of 0 ≤ i < count, each in one thread. Returns when all have
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
    for (;;) {
      const unsigned left = wait_for(working_, [](unsigned w) { return w == 0; });
      if (left == 0) return;
      working_.wait(left, std::memory_order_acquire);
    }
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
      (void)wait_for(pieces_, [seen](std::uint32_t now) { return now != seen; });
      pieces_.wait(seen, std::memory_order_acquire);
      if (!task_) return;
      task_(member);
      if (working_.fetch_sub(1, std::memory_order_release) == 1) working_.notify_one();
    }
  }

  // The kernel of a machine with more processors than a mask has bits, 1,024 for one set, refuses the mask.
  static unsigned cores() {
    for (std::size_t sets = 1; sets <= 1024; sets *= 2) {
      std::vector<cpu_set_t> mine(sets);
      const std::size_t bytes = sets * sizeof mine[0];
      if (sched_getaffinity(0, bytes, mine.data()) == 0) return static_cast<unsigned>(CPU_COUNT_S(bytes, mine.data()));
    }
    return 1;
  }
  // Polls until is_there(value), but no longer than a sleep would cost. Returns the last value seen.
  template <class T, class Ready>
  T wait_for(const std::atomic<T>& word, Ready&& is_there) const {
    using clock = std::chrono::steady_clock;
    constexpr auto longest = std::chrono::microseconds(50);
    constexpr int looks = 32, most_yields = 20;
    const auto begin = clock::now();
    for (int turn = 0; crowded_ ? turn < most_yields : clock::now() - begin < longest; ++turn) {
      for (int look = 0; look < (crowded_ ? 1 : looks); ++look) {
        if (const T value = word.load(std::memory_order_acquire); is_there(value)) return value;
        pause();
      }
      if (crowded_ || turn % 8 == 7) sched_yield();  // the awaited PE may share the core
    }
    return word.load(std::memory_order_acquire);
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  unsigned size_;
  bool crowded_ = size_ > cores();      // counts this process only
  std::function<void(unsigned)> task_;  // null: there will be no more
  std::atomic<std::uint32_t> pieces_{0};
  std::atomic<unsigned> working_{0};
  std::vector<std::jthread> others_;  // last, so that they end first
};

}  // namespace irregular
