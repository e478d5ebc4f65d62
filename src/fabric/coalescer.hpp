// Small non-blocking puts to one PE, gathered into one message. It leaves when it is full, when anything else is sent
// to that PE, when the sender flushes, or when the oldest has waited for LULL_COALESCE_US.
//
// Called with the lock of the protocol held, but any() and deadline_fd().
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/units.hpp"
#include "fabric/amo.hpp"
#include "fabric/messages.hpp"

namespace lull::fabric {

class coalescer {
 public:
  coalescer(int pes, std::size_t message_bytes, std::int64_t longest_ns);
  ~coalescer();
  coalescer(const coalescer&) = delete;
  coalescer& operator=(const coalescer&) = delete;

  [[nodiscard]] bool takes(std::size_t offset, std::size_t bytes) const {
    return message_bytes_ != 0 && bytes <= coalesced_put::most_bytes && offset < coalesced_put::most_offset;
  }
  // Into the open message to `to`; false: there is none, or it has no room.
  [[nodiscard]] bool add(pe_id to, std::size_t offset, const void* source, std::size_t bytes) {
    message* const m = open_[static_cast<std::size_t>(to.index())];
    const std::size_t needed = coalesced_put::room_for(bytes);
    if (!m || m->payload_bytes + needed > m->payload.size()) return false;
    std::byte* const at = m->payload.data() + m->payload_bytes;
    const coalesced_put record(offset, bytes);
    std::memcpy(at, &record, sizeof record);
    copy_bytes(at + sizeof record, source, bytes);
    m->payload_bytes += needed;
    return true;
  }
  // An empty message becomes the open one, with room for a put of so many bytes at least.
  void open(pe_id to, message& empty, std::size_t bytes);
  // Closes the message to `to` and gives it, for being sent; null when there is none.
  [[nodiscard]] message* close(pe_id to);
  // PEs with an open message.
  [[nodiscard]] const std::vector<pe_id>& waiting() const { return waiting_; }
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }

  [[nodiscard]] int deadline_fd() const { return deadline_fd_; }  // readable when a put has waited too long
  // Whether that is so; then it is not any more, until the next put.
  [[nodiscard]] bool overdue();

 private:
  std::size_t message_bytes_;
  std::int64_t longest_ns_;
  std::vector<message*> open_;  // by PE
  std::vector<pe_id> waiting_;
  std::atomic<bool> any_{false};
  std::int64_t deadline_ns_ = 0;  // of the timer; 0: not set
  int deadline_fd_;
};

}  // namespace lull::fabric
