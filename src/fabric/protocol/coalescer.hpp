// Gathers small puts, and atomics without answer, to one PE into one message. The message leaves when it is full, when anything else is sent to that
// PE, when the sender flushes, or when its first put has waited for LULL_COALESCE_US. Adjacent puts become one block in
// it.
//
// Call with both locks of the protocol held, except where a comment says otherwise.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "base/units.hpp"
#include "fabric/operations/amo.hpp"
#include "fabric/operations/completion.hpp"
#include "fabric/protocol/messages.hpp"

namespace lull::fabric {

class coalescer {
 public:
  coalescer(int pes, std::size_t message_bytes, std::int64_t longest_ns);
  coalescer(const coalescer&) = delete;
  coalescer& operator=(const coalescer&) = delete;

  // Without a lock.
  [[nodiscard]] bool takes(std::size_t offset, std::size_t bytes) const {
    return message_bytes_ != 0 && bytes <= coalesced_put::most_bytes && offset < coalesced_put::most_offset;
  }
  // Adds the put to the open message to `to` if the last put in it was of the same context. With the quick lock alone.
  [[nodiscard]] bool add_another(const outstanding& of, pe_id to, std::size_t offset, const void* source,
                                 std::size_t bytes) {
    return open_[static_cast<std::size_t>(to.index())].last_of == of.number() &&
           add(of, to, offset, source, bytes, true);
  }
  // Adds the put to the open message to `to`; false: there is none, or it has no room. `joins`: the put may become one
  // block with the put before it, if no order between their words is required.
  [[nodiscard]] bool add(const outstanding& of, pe_id to, std::size_t offset, const void* source, std::size_t bytes,
                         bool joins) {
    open_message& o = open_[static_cast<std::size_t>(to.index())];
    if (!o.content) return false;
    const std::size_t so_far = joins && offset == o.last_end ? o.last_end - o.last_offset : 0;
    const bool joined = so_far != 0 && so_far + bytes <= coalesced_put::most_joined_bytes;
    const std::size_t begin = joined ? o.last_begin : o.content->payload_bytes;
    const std::size_t end = begin + coalesced_put::room_for(joined ? so_far + bytes : bytes);
    if (end > o.room) return false;
    if (!joined) {
      o.last_begin = begin;
      o.last_offset = offset;
    }
    o.last_end = offset + bytes;
    std::byte* const at = o.content->payload.data() + begin;
    const coalesced_put block(o.last_offset, o.last_end - o.last_offset);
    std::memcpy(at, &block, sizeof block);
    copy_few(at + sizeof block + (offset - o.last_offset), source, bytes);
    o.content->payload_bytes = end;
    o.last_of = of.number();
    ++o.puts;
    return true;
  }
  // The same for an atomic without answer, with the quick lock alone, and if it is one of any context.
  [[nodiscard]] bool add_another(const outstanding& of, pe_id to, const amo& u) {
    return open_[static_cast<std::size_t>(to.index())].last_of == of.number() && add(of, to, u);
  }
  [[nodiscard]] bool add(const outstanding& of, pe_id to, const amo& u) {
    open_message& o = open_[static_cast<std::size_t>(to.index())];
    if (!o.content || o.content->payload_bytes + sizeof(coalesced_amo) > o.room) return false;
    const coalesced_amo one(u);
    std::memcpy(o.content->payload.data() + o.content->payload_bytes, &one, sizeof one);
    o.content->payload_bytes += sizeof one;
    o.last_end = o.last_offset = coalesced_put::most_offset;  // no put joins the one before it
    o.last_of = of.number();
    ++o.puts;
    return true;
  }
  // Makes the empty message the open one, with room for at least one put of `bytes` bytes.
  void open(pe_id to, message& empty, std::size_t bytes);
  // Closes the message to `to` and returns it for sending; null if there is none.
  [[nodiscard]] message* close(pe_id to);
  [[nodiscard]] bool has(pe_id to) const { return open_[static_cast<std::size_t>(to.index())].content != nullptr; }
  // PEs with an open message.
  [[nodiscard]] const std::vector<pe_id>& waiting() const { return waiting_; }
  // Without a lock.
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }

  [[nodiscard]] int deadline_fd() const { return deadline_fd_.get(); }  // readable when a message may be overdue
  // The overdue messages. `lay`: the message was left lying, that is, no put was added in the second half of its time.
  // The descriptor becomes readable again for the next check.
  struct late_message {
    pe_id to;
    bool lay;
  };
  [[nodiscard]] std::vector<late_message> overdue();

 private:
  struct open_message {
    message* content = nullptr;
    std::uint64_t last_of = 0;  // number of the context of the last put; 0: none
    std::size_t room = 0;
    std::int64_t since_ns = 0;
    std::uint32_t puts = 0;
    std::optional<std::uint32_t> puts_at_half{};                // at half of the time that it may wait
    std::size_t last_begin = 0, last_offset = 0, last_end = 0;  // its last block: where in payload and memory
  };
  // Copies; the usual sizes need no call.
  static void copy_few(std::byte* to, const void* from, std::size_t bytes) {
    switch (bytes) {
      case 4:
        std::memcpy(to, from, 4);
        return;
      case 8:
        std::memcpy(to, from, 8);
        return;
      case 16:
        std::memcpy(to, from, 16);
        return;
      case 32:
        std::memcpy(to, from, 32);
        return;
      default:
        copy_bytes(to, from, bytes);
    }
  }
  void set_timer(std::int64_t at_ns);

  std::size_t message_bytes_;
  std::int64_t longest_ns_;
  std::vector<open_message> open_;  // by PE
  std::vector<pe_id> waiting_;
  std::atomic<bool> any_{false};
  std::int64_t deadline_ns_ = 0;  // of the timer; 0: not set
  descriptor deadline_fd_;
};

}  // namespace lull::fabric
