// The messages under way. A part (parts.hpp) makes a message, and the part of its destination counts its bytes and gives
// it up. Records never move, so that both can refer to one by its number. A number that is given up returns to the part
// that made it, which alone uses it again.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "netsim/network/network_state.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// A line of memory of its own, since two parts may write neighbours.
struct alignas(64) message_record {
  message is{};
  std::uint32_t made_by = 0;  // part
};

// The memory of all parts.
class message_store {
 public:
  static constexpr unsigned chunk_bits = 16;
  static constexpr std::size_t chunk_size = std::size_t{1} << chunk_bits;
  message_store() : chunks_(std::size_t{1} << (32 - chunk_bits)) {}
  message_record& operator[](std::uint32_t index) {
    return chunks_[index >> chunk_bits].get()[index & ((std::uint32_t{1} << chunk_bits) - 1)];
  }
  void prefetch(std::uint32_t index) { __builtin_prefetch(&(*this)[index], 1); }
  // Returns the first number of a new chunk. Any part may call this at any time; another learns of the numbers later, by
  // what synchronises the parts.
  std::uint32_t add_chunk() {
    const std::uint32_t chunk = made_.fetch_add(1, std::memory_order_relaxed);
    if (chunk + 1 >= chunks_.size()) throw std::bad_alloc();  // the last has the number `nowhere`
    chunks_[chunk].reset(large<message_record>().allocate(chunk_size));
    return chunk << chunk_bits;
  }

 private:
  struct release {
    void operator()(message_record* chunk) const { large<message_record>().deallocate(chunk, chunk_size); }
  };
  std::vector<std::unique_ptr<message_record, release>> chunks_;  // in huge pages: they are read in no order
  std::atomic<std::uint32_t> made_{0};
};

// The numbers of one part.
class message_numbers {
 public:
  message_numbers(message_store& store, std::uint32_t part) : store_(store), part_(part) {}
  std::uint32_t take() {
    std::uint32_t index;
    if (!free_.empty()) [[likely]] {
      index = free_.back();
      free_.pop_back();
    } else {
      if (next_ == end_) {
        next_ = store_.add_chunk();
        end_ = next_ + (std::uint32_t{1} << message_store::chunk_bits);
      }
      index = next_++;
    }
    store_[index].made_by = part_;
    return index;
  }
  void put_back(std::uint32_t index) { free_.push_back(index); }

 private:
  message_store& store_;
  std::uint32_t part_;
  std::uint32_t next_ = 0, end_ = 0;  // unused numbers of its last chunk
  std::vector<std::uint32_t> free_;
};

}  // namespace lull::netsim
