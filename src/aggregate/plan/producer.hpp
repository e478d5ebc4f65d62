// A thread of this PE that pushes: chunks of its own, one for each channel that it uses, which it gives to the channel
// when they are full, and rings for what stays on this PE (thread_exchange.hpp).
//
// So an item costs a thread what it costs a PE that has one: the channel, which all threads of the PE share, is asked
// for once for each chunk. A chunk grows to an item that is larger. What all threads of the PE may hold in chunks is
// bounded: the more of them and of channels there are, the smaller are the chunks, and a thread that finds no memory
// for another gives all it has first.
//
// States: free → begin(), by the thread that it then belongs to → end() → free, for the next one, with its memory.
#pragma once
#include <vector>

#include "aggregate/plan/aggregation.hpp"
#include "aggregate/threads/thread_exchange.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

class producer {
 public:
  producer(aggregation& to, aggregate::thread_exchange& inside);
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;

  void begin();
  void end();  // gives what is in its chunks; what stays here has been handled
  [[nodiscard]] bool is_free() const { return !thread_; }  // asked and changed by one thread at a time
  [[nodiscard]] bool was_of(const void* thread) const { return last_thread_ == thread; }
  void take(const void* thread) { thread_ = last_thread_ = thread; }
  void leave() { thread_ = nullptr; }

  [[nodiscard]] aggregation& belongs_to() const { return aggregation_; }
  // By PE; behind them, by part of this PE.
  [[nodiscard]] cursor* const* cursors() const { return entry_.data(); }
  [[nodiscard]] std::size_t parts() const { return inside_.parts(); }
  void make_room(int entry, std::size_t item_bytes);  // a PE's or a part's
  void advance();
  [[nodiscard]] std::int64_t cpu_ns() const;  // since begin()

 private:
  struct chunk {
    cursor at;
    aggregate::first_channel way{};
    int pe = 0;  // one of those to which it leads
    std::vector<std::byte> memory;
  };
  void give(chunk& filled);
  void give_all();
  void give_memory();  // of all chunks, which are empty
  void make_room_locally(std::size_t part, std::size_t item_bytes);

  aggregation& aggregation_;
  aggregate::thread_exchange& inside_;
  aggregate::thread_exchange::rings& rings_;
  std::vector<chunk> chunks_;  // of the channels to which an item may go first
  std::vector<chunk*> by_pe_;  // null: this one
  std::vector<cursor*> entry_;
  std::size_t chunk_bytes_ = 0;  // of a chunk, unless an item is larger
  std::int64_t last_given_ns_ = 0, cpu_begin_ns_ = 0;
  const void *thread_ = nullptr, *last_thread_ = nullptr;
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
