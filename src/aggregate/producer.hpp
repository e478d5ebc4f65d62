// A thread of this PE that pushes: chunks of its own, one for each channel that it uses, which it gives to the channel
// when they are full.
//
// So an item costs a thread what it costs a PE that has one: the channel, which all threads of the PE share, is asked
// for once for each chunk. A chunk grows to an item that is larger. What all threads of the PE may hold in chunks is
// bounded: the more of them and of channels there are, the smaller are the chunks, and a thread that finds no memory
// for another gives all it has first. All but the aggregation belongs to one thread.
#pragma once
#include <vector>

#include "aggregate/aggregation.hpp"

namespace lull::detail {

class producer {
 public:
  explicit producer(aggregation& to);  // std::logic_error in a program that has no threads
  ~producer();                         // gives what is in its chunks
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;

  [[nodiscard]] cursor* const* cursors() const { return entry_.data(); }  // by PE
  void turn_over(int pe, std::size_t item_bytes);
  void advance();

 private:
  struct chunk {
    cursor at;
    aggregate::first_channel way{};
    std::vector<std::byte> memory;
  };
  void give(chunk& filled);
  void give_all();
  void give_memory();  // of all chunks, which are empty

  aggregation& aggregation_;
  std::vector<chunk> chunks_;  // of the channels to which an item may go first
  std::vector<chunk*> by_pe_;
  std::vector<cursor*> entry_;   // the same, for templates
  std::size_t chunk_bytes_ = 0;  // of a chunk, unless an item is larger
  std::int64_t last_given_ns_, cpu_begin_ns_;
};

}  // namespace lull::detail
