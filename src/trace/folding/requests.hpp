// The requests that a thread has posted and that are not complete, by their handles, which the library uses again. Those
// posted last are in a ring, which grows while the one that would be overwritten is still open; persistent requests
// hold slots.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/folding/signature.hpp"

namespace lull::trace::folding {

struct open_request {
  std::uint64_t handle = 0, bytes = 0;
  std::int32_t peer = 0, tag = 0;
  std::uint64_t previous = 0;  // the one before, plus 1, among those whose handles have the same hash
  kind what = kind::none;
  bool open = false;
  [[nodiscard]] bool receives() const { return what == kind::posted_receive || what == kind::prepared_receive; }
};

// The fields of a status that are as posted, or mean nothing.
[[nodiscard]] inline std::uint8_t as_posted(const record& status, const open_request& of) {
  if (status.what != kind::completed || !of.receives()) return status_fields;
  return static_cast<std::uint8_t>((status.peer == of.peer ? 1 << peer : 0) | (status.tag == of.tag ? 1 << tag : 0) |
                                   (status.bytes == of.bytes ? 1 << bytes_field : 0));
}

class requests {
 public:
  struct found {
    naming named = naming::handle;
    std::uint64_t name = 0;
    const open_request* request = nullptr;
  };
  using lives = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // the handle in expanded records, the library's

  static constexpr std::size_t smallest = 256, largest = 1 << 15;  // of the ring

  [[nodiscard]] std::uint64_t posted() const { return posted_; }

  void post(const record& r) {
    if (ring_[posted_ & mask()].open) [[unlikely]]
      keep_or_grow();
    const std::size_t bucket = bucket_of(r.begin);
    open_request* const earlier = newest(bucket, r.begin);
    if (earlier != nullptr) earlier->open = false;  // it was dropped without a record
    if (!slot_of_.empty()) [[unlikely]]
      forget_slot(r.begin);
    ring_[posted_ & mask()] = {r.begin, r.bytes, r.peer, r.tag, heads_[bucket], r.what, true};
    heads_[bucket] = ++posted_;
  }
  // The slot that a request with this handle would get; most_slots if there is none.
  [[nodiscard]] std::uint64_t slot_for(std::uint64_t handle) const {
    if (const auto slot = slot_of_.find(handle); slot != slot_of_.end()) return slot->second;
    return free_.empty() ? slots_.size() : free_.back();
  }
  // Returns its slot, as above.
  std::uint64_t prepare(const record& r) {
    if (open_request* const earlier = newest(bucket_of(r.begin), r.begin)) earlier->open = false;
    forget_slot(r.begin);
    if (free_.empty()) {
      if (slots_.size() == most_slots) return most_slots;
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = {{r.begin, r.bytes, r.peer, r.tag, 0, r.what, true}, prepared_++};
    slot_of_[r.begin] = slot;
    return slot;
  }
  [[nodiscard]] std::uint64_t life_in(std::uint64_t slot) const {
    return life_of_prepared | slot << 32 | (slots_[slot].life & 0xffffffffU);
  }

  // The open request of this age; null if there is none.
  [[nodiscard]] open_request* of_age(std::uint64_t age) {
    if (age >= posted_ || age > mask()) return nullptr;
    open_request& r = ring_[(posted_ - 1 - age) & mask()];
    return r.open ? &r : nullptr;
  }
  void end_of_age(std::uint64_t age) { ring_[(posted_ - 1 - age) & mask_].open = false; }
  [[nodiscard]] open_request* in_slot(std::uint64_t slot) {
    return slot < slots_.size() && slots_[slot].request.open ? &slots_[slot].request : nullptr;
  }
  [[nodiscard]] found find(std::uint64_t handle) {
    if (const open_request* const r = newest(bucket_of(handle), handle); r != nullptr && r->open)
      return {naming::age, (posted_ - 1 - place_of(*r)) & mask(), r};
    if (const auto slot = slot_of_.find(handle); slot != slot_of_.end())
      return {naming::prepared, slot->second, &slots_[slot->second].request};
    return {naming::handle, handle, nullptr};
  }
  // What a record about a request means for it.
  void apply(kind what, naming named, std::uint64_t of) {
    if (named == naming::age && ends(what)) {
      if (open_request* const r = of_age(of)) r->open = false;
    } else if (named == naming::prepared && what == kind::freed) {
      if (const open_request* const r = in_slot(of)) forget_slot(r->handle);
    }
  }

  [[nodiscard]] lives open() const {
    lives all;
    for (std::uint64_t n = posted_ - std::min<std::uint64_t>(posted_, ring_.size()); n < posted_; ++n)
      if (ring_[n & mask()].open) all.emplace_back(life_of_post | n, ring_[n & mask()].handle);
    for (std::uint64_t slot = 0; slot < slots_.size(); ++slot)
      if (slots_[slot].request.open) all.emplace_back(life_in(slot), slots_[slot].request.handle);
    return all;
  }
  // Requests that will not be found again: whoever ends them names the library's handle.
  lives take_given_up() { return std::exchange(given_up_, {}); }
  void give_up_all() {
    const lives all = open();
    given_up_.insert(given_up_.end(), all.begin(), all.end());
    for (open_request& r : ring_) r.open = false;
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      if (slot_of_.contains(slots_[slot].request.handle)) forget_slot(slots_[slot].request.handle);
  }

  [[nodiscard]] std::size_t memory() const {
    return ring_.capacity() * sizeof(open_request) + heads_.capacity() * 8 + slots_.capacity() * sizeof(held);
  }

 private:
  struct held {
    open_request request;
    std::uint64_t life = 0;
  };
  // As many as the ring has places, so that few share one.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t handle) const {
    return (handle * 0x9e3779b97f4a7c15U >> 32) & mask();
  }
  [[nodiscard]] std::uint64_t mask() const { return mask_; }
  [[nodiscard]] std::uint64_t place_of(const open_request& r) const {
    return static_cast<std::uint64_t>(&r - ring_.data());
  }
  open_request* newest(std::size_t bucket, std::uint64_t handle) {
    for (std::uint64_t at = heads_[bucket]; at != 0 && posted_ - at <= mask_;) {
      open_request& r = ring_[(at - 1) & mask()];
      if (r.handle == handle) return &r;
      at = r.previous;
    }
    return nullptr;
  }
  void forget_slot(std::uint64_t handle) {
    const auto slot = slot_of_.find(handle);
    if (slot == slot_of_.end()) return;
    slots_[slot->second].request.open = false;
    free_.push_back(slot->second);
    slot_of_.erase(slot);
  }
  void keep_or_grow() {
    if (ring_.size() == largest) {
      const std::uint64_t n = posted_ - ring_.size();
      given_up_.emplace_back(life_of_post | n, ring_[n & mask()].handle);
      return;
    }
    std::vector<open_request> larger(ring_.size() * 2);
    heads_.assign(larger.size(), 0);
    for (std::uint64_t n = posted_ - ring_.size(); n != posted_; ++n)
      larger[n & (larger.size() - 1)] = ring_[n & mask()];
    const std::uint64_t first = posted_ - ring_.size();
    ring_.swap(larger);
    mask_ = ring_.size() - 1;
    for (std::uint64_t n = first; n != posted_; ++n) {
      open_request& r = ring_[n & mask()];
      r.previous = std::exchange(heads_[bucket_of(r.handle)], n + 1);
    }
  }

  std::vector<open_request> ring_ = std::vector<open_request>(smallest);
  std::vector<std::uint64_t> heads_ = std::vector<std::uint64_t>(smallest);
  std::uint64_t mask_ = smallest - 1;
  std::uint64_t posted_ = 0, prepared_ = 0;
  std::vector<held> slots_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> slot_of_;
  lives given_up_;
};

}  // namespace lull::trace::folding
