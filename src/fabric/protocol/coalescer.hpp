// Gathers small puts, and atomics without answer, to one PE into one message. The message leaves when it is full, when anything else is sent to that
// PE, when the sender flushes, or when its first put has waited for LULL_COALESCE_US. Adjacent puts become one block in
// it, and puts of one size at equal distances a run, which needs no word beside each.
//
// Call with both locks of the protocol held, except where a comment says otherwise.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/clock.hpp"
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
    if (o.run.goes_on(offset, bytes) && add_to_run(o, of, source)) return true;
    o.run.bytes = 0;
    const std::size_t so_far = joins && offset == o.last_end ? o.last_end - o.last_offset : 0;
    const bool joined = so_far != 0 && so_far + bytes <= coalesced_put::most_joined_bytes;
    const std::size_t begin = joined ? o.last_begin : o.content->payload_bytes;
    const std::size_t end = begin + coalesced_put::room_for(joined ? so_far + bytes : bytes);
    if (end > o.room) return false;
    if (joined) {
      o.like.puts = 0;
    } else {
      o.like.count(offset, bytes);
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
    count(o);
    if (o.like.puts == coalesced_run::fewest_puts) begin_run(o);
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
    o.like.puts = 0;
    o.run.bytes = 0;
    o.last_of = of.number();
    count(o);
    return true;
  }
  // Makes the empty message the open one, with room for at least one put of `bytes` bytes.
  void open(pe_id to, message& empty, std::size_t bytes);
  // Closes the message to `to` and returns it for sending; null if there is none. `since_ns`: about when its last put
  // came, too early by up to half of the time that it is open, or by that of 64 puts.
  struct closed {
    message* content = nullptr;
    std::uint32_t puts = 0;
    std::int64_t since_ns = 0;
  };
  [[nodiscard]] closed close(pe_id to);
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
    std::int64_t since_ns = 0, last_ns = 0;  // when it was opened, and about when the last put came
    std::uint32_t puts = 0;
    std::optional<std::uint32_t> puts_at_half{};                // at half of the time that it may wait
    std::size_t last_begin = 0, last_offset = 0, last_end = 0;  // its last block: where in payload and memory
    // The last blocks, if each is one put, of equal size and at equal distances.
    struct alike {
      std::size_t puts = 0, bytes = 0, offset = 0;
      std::ptrdiff_t stride = 0;
      void count(std::size_t at, std::size_t of_bytes) {
        const auto apart = static_cast<std::ptrdiff_t>(at - offset);
        const bool same_size = puts != 0 && of_bytes == bytes;
        puts = same_size && puts > 1 && apart == stride ? puts + 1 : same_size ? 2 : 1;
        bytes = of_bytes;
        offset = at;
        stride = apart;
      }
    } like{};
    // The run that ends the message.
    struct open_run {
      std::size_t bytes = 0;  // of each put; 0: the message ends with no run
      std::size_t next = 0;   // where the next put goes if it belongs to the run
      std::ptrdiff_t stride = 0;
      std::size_t begin = 0, end = 0;  // in the payload
      std::uint16_t puts = 0;
      const std::byte* source = nullptr;  // of the last put
      [[nodiscard]] bool goes_on(std::size_t offset, std::size_t of_bytes) const {
        return offset == next && of_bytes == bytes && of_bytes != 0;
      }
    } run{};
  };
  // Reads the clock for few of many puts.
  static void count(open_message& o) {
    ++o.puts;
    const bool at_power_of_two = (o.puts & (o.puts - 1)) == 0;
    if ((at_power_of_two || o.puts % 64 == 0) && o.puts != 1) o.last_ns = now_ns();
  }
  static constexpr std::ptrdiff_t farthest_prefetch = 4096, puts_prefetched = 12;
  // False: there is no room.
  static bool add_to_run(open_message& o, const outstanding& of, const void* source) {
    open_message::open_run& r = o.run;
    const std::size_t end = r.end + r.bytes, padded = (end + 7) / 8 * 8;
    if (padded > o.room || r.puts == coalesced_run::most_puts) return false;
    std::byte* const payload = o.content->payload.data();
    copy_few(payload + r.end, source, r.bytes);
    // Sources at equal distances too are likely. The lock of each put keeps the processor from loading the next ones.
    const auto* const from = static_cast<const std::byte*>(source);
    if (const std::ptrdiff_t apart = from - r.source; apart > -farthest_prefetch && apart < farthest_prefetch)
      __builtin_prefetch(from + puts_prefetched * apart);
    r.source = from;
    ++r.puts;
    std::memcpy(payload + r.begin + offsetof(coalesced_run, puts), &r.puts, sizeof r.puts);
    r.end = end;
    r.next += static_cast<std::size_t>(r.stride);
    o.content->payload_bytes = padded;
    o.last_of = of.number();
    count(o);
    return true;
  }
  // The last blocks become a run. They have taken more room.
  static void begin_run(open_message& o);
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
