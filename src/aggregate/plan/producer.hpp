// A thread of this PE that pushes. It has one chunk for each channel that it uses, which it appends to the channel when
// it is full, and rings for items that stay on this PE (thread_exchange.hpp).
//
// An item therefore costs a thread what it costs the only thread of a PE: the channel, which all threads of the PE
// share, is accessed once per chunk. A chunk grows to an item that is larger. The chunks of all threads of the PE have
// a memory limit: with more threads and channels the chunks are smaller, and a thread that finds no memory for another
// chunk first appends all it has and frees their memory.
//
// States: free → begin(), by the thread to which it then belongs → end() → free for the next thread, with its memory.
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
  void end();                                              // appends its chunks; items that stay here have been handled
  [[nodiscard]] bool is_free() const { return !thread_; }  // read and changed by one thread at a time
  [[nodiscard]] bool was_of(const void* thread) const { return last_thread_ == thread; }
  void take(const void* thread) { thread_ = last_thread_ = thread; }
  void leave() { thread_ = nullptr; }

  [[nodiscard]] aggregation& belongs_to() const { return aggregation_; }
  // By PE; after these, by part of this PE.
  [[nodiscard]] cursor* const* cursors() const { return entry_.data(); }
  [[nodiscard]] std::size_t parts() const { return inside_.parts(); }
  void make_room(int entry, std::size_t item_bytes);  // entry: of a PE or of a part
  void advance();
  [[nodiscard]] std::int64_t cpu_ns() const;  // since begin()

 private:
  struct chunk {
    cursor at;
    aggregate::first_channel way{};
    int pe = 0;  // one of those to which the channel leads
    std::vector<std::byte> memory;
  };
  void give(chunk& filled);
  void give_all();
  void give_memory();  // of all chunks, which must be empty
  void make_room_locally(std::size_t part, std::size_t item_bytes);

  aggregation& aggregation_;
  aggregate::thread_exchange& inside_;
  aggregate::thread_exchange::rings& rings_;
  std::vector<chunk> chunks_;  // one per first channel
  std::vector<chunk*> by_pe_;  // null: this PE
  std::vector<cursor*> entry_;
  std::size_t chunk_bytes_ = 0;  // of a chunk, unless an item is larger
  std::int64_t last_given_ns_ = 0, cpu_begin_ns_ = 0;
  const void *thread_ = nullptr, *last_thread_ = nullptr;
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
