// The messages under way. A part (parts.hpp) makes a message, and the part of its destination counts its bytes and gives
// it up. Records never move, so that both can refer to one by its number. A number that is given up returns to the part
// that made it, which alone uses it again.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <vector>

#include "netsim/network/network_state.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// The memory of all parts. A chunk of it contains messages that one part makes.
class message_store {
 public:
  static constexpr unsigned chunk_bits = 16;
  static constexpr std::uint32_t chunk_size = std::uint32_t{1} << chunk_bits;
  explicit message_store(unsigned parts)
      : spread_(parts > 1 ? 1 : 0), chunks_(std::size_t{1} << (32 - chunk_bits)), makers_(chunks_.size()) {}
  message_store(const message_store&) = delete;
  message_store& operator=(const message_store&) = delete;
  ~message_store() {
    for (std::uint32_t i = 0; i < std::min<std::size_t>(made_, chunks_.size()); ++i)
      if (chunks_[i] != nullptr) large<message>().deallocate(chunks_[i], records());
  }
  // Returns the first number of a new chunk. Any part may call this at any time; another learns of the numbers later, by
  // what synchronises the parts.
  std::uint32_t add_chunk(std::uint32_t part) {
    const std::uint32_t chunk = made_.fetch_add(1, std::memory_order_relaxed);
    if (chunk + 1 >= chunks_.size()) throw std::bad_alloc();  // the last has the number `nowhere`
    chunks_[chunk] = large<message>().allocate(records());
    makers_[chunk] = static_cast<std::uint8_t>(part);
    return chunk << chunk_bits;
  }

 private:
  friend class messages_of_part;
  [[nodiscard]] std::size_t records() const { return std::size_t{chunk_size} << spread_; }

  // Two messages share a line of memory. If there are several parts, which may write neighbours, every second record is
  // unused.
  unsigned spread_;
  std::vector<message*> chunks_;  // in huge pages: they are read in no order
  std::vector<std::uint8_t> makers_;
  std::atomic<std::uint32_t> made_{0};
};

// All messages, and the numbers of one part. After all its numbers were free, consecutive calls of take() return adjacent
// records.
class messages_of_part {
 public:
  messages_of_part(message_store& store, std::uint32_t part)
      : chunks_(store.chunks_.data()), spread_(store.spread_), part_(part), store_(store) {}
  message& operator[](std::uint32_t index) {
    return chunks_[index >> message_store::chunk_bits][(index & (message_store::chunk_size - 1)) << spread_];
  }
  void prefetch(std::uint32_t index) { __builtin_prefetch(&(*this)[index], 1); }
  // The part that made a message.
  [[nodiscard]] std::uint32_t maker(std::uint32_t index) const {
    return spread_ == 0 ? part_ : store_.makers_[index >> message_store::chunk_bits];
  }
  std::uint32_t take() {
    if (free_.empty()) [[unlikely]]
      return add();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void put_back(std::uint32_t index) {
    free_.push_back(index);
    ++put_back_;
    if (free_.size() == added_ && put_back_ >= added_) [[unlikely]]
      put_in_order();
  }

 private:
  [[gnu::noinline]] std::uint32_t add() {
    if (next_ == end_) {
      next_ = store_.add_chunk(part_);
      end_ = next_ + message_store::chunk_size;
    }
    ++added_;
    return next_++;
  }
  [[gnu::noinline]] void put_in_order() {
    put_back_ = 0;
    std::ranges::sort(free_, std::greater());
  }

  message* const* chunks_;
  unsigned spread_;
  std::uint32_t part_;
  std::vector<std::uint32_t> free_;   // the last is taken next
  std::size_t added_ = 0;             // numbers
  std::size_t put_back_ = 0;          // since put_in_order()
  std::uint32_t next_ = 0, end_ = 0;  // unused numbers of its last chunk
  message_store& store_;
};

}  // namespace lull::netsim
