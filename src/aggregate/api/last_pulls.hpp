// The last item that each thread of a PE has pulled, where several threads pull from one queue. The item stays in place
// until that thread pulls again, and the thread may give it back. Items that were given back are pulled before the
// queue.
//
// One caller at a time; a thread may read its own item at any time.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "aggregate/api/arrival_queue.hpp"

namespace lull::aggregate {

class last_pulls {
 public:
  // Keeps a copy for this thread.
  arrival_queue::arrived keep(const arrival_queue::arrived& one) {
    pulled& mine = of_thread_[this_thread()];
    mine.from = one.from;
    mine.item.assign(one.item.begin(), one.item.end());
    mine.item.reserve(1);  // an item without bytes has an address too
    mine.held = true;
    return {mine.from, mine.item};
  }
  bool give_back() {
    pulled& mine = of_thread_[this_thread()];
    if (!mine.held) return false;
    mine.held = false;
    given_back_.push_back(mine);
    return true;
  }
  void release() {
    if (const auto mine = of_thread_.find(this_thread()); mine != of_thread_.end()) mine->second.held = false;
  }

  [[nodiscard]] bool has_given_back() const { return !given_back_.empty(); }
  // Returns the item that was given back last, kept for this thread.
  arrival_queue::arrived pull_again() {
    pulled one = std::move(given_back_.back());
    given_back_.pop_back();
    return keep({one.from, one.item});
  }

 private:
  struct pulled {
    int from = 0;
    std::vector<std::byte> item;
    bool held = false;
  };
  // A number that no other thread has or had.
  static std::uint64_t this_thread() {
    static std::atomic<std::uint64_t> threads{0};
    static thread_local const std::uint64_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
  }

  std::map<std::uint64_t, pulled> of_thread_;
  std::vector<pulled> given_back_;
};

}  // namespace lull::aggregate
