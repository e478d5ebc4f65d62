// Queue of bounded size for items that have arrived and wait to be pulled. Batches fill it; pulls empty it item by
// item.
//
// The item that was pulled last stays in place until release(), and may be given back until then.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace lull::aggregate {

class arrival_queue {
 public:
  // The queue has `bytes` bytes, or enough for one item of `max_item_bytes` bytes.
  arrival_queue(std::size_t bytes, std::size_t max_item_bytes)
      : room_(bytes > record_of(max_item_bytes) ? bytes : record_of(max_item_bytes)) {}

  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] std::size_t memory() const { return room_.size(); }

  // Returns false if the item does not fit now.
  bool add(int from, std::span<const std::byte> item) {
    if (empty() && !held_) head_ = tail_ = 0;
    const std::size_t bytes = record_of(item.size());
    if (room_.size() - tail_ < bytes) return false;
    const head h{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(item.size())};
    std::memcpy(room_.data() + tail_, &h, sizeof h);
    if (!item.empty()) std::memcpy(room_.data() + tail_ + sizeof h, item.data(), item.size());
    tail_ += bytes;
    return true;
  }

  struct arrived {
    int from;
    std::span<std::byte> item;
  };
  std::optional<arrived> next() {
    held_.reset();
    if (empty()) return std::nullopt;
    head h;
    std::memcpy(&h, room_.data() + head_, sizeof h);
    held_ = head_;
    head_ += record_of(h.bytes);
    return arrived{static_cast<int>(h.from), {room_.data() + *held_ + sizeof h, h.bytes}};
  }
  bool give_back() {
    if (!held_) return false;
    head_ = *held_;
    held_.reset();
    return true;
  }
  void release() { held_.reset(); }

 private:
  struct head {
    std::uint32_t from, bytes;
  };
  static std::size_t record_of(std::size_t bytes) { return sizeof(head) + (bytes + 7) / 8 * 8; }

  std::vector<std::byte> room_;
  std::size_t head_ = 0, tail_ = 0;
  std::optional<std::size_t> held_;  // position of the item that was pulled last
};

}  // namespace lull::aggregate
