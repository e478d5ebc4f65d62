// The messages between nodes as they are on the wire: a header for each kind. Both ends run the same build on machines
// of the same byte order.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/amo.hpp"
#include "transport/pool.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

enum class message_kind : unsigned { put, coalesced, scatter, get, gather, reply, amo, acknowledge, ring };

// The beginning of every header.
struct envelope {
  std::uint64_t key;  // of the target; a message with another key does not belong to this job
  std::int32_t from;
};

struct put_header {
  envelope sent;
  std::uint8_t has_signal;
  amo_op signal_how;
  std::uint8_t signal_whole_node;
  std::uint64_t offset, signal_offset, signal_value;
  std::uint64_t token;  // 0: the target acknowledges; otherwise it replies
};
struct coalesced_header {
  envelope sent;
};
struct get_header {
  envelope sent;
  std::uint64_t offset, bytes, token;
};
struct reply_header {
  envelope sent;
  std::uint64_t token;
};
struct amo_header {
  envelope sent;
  amo_op op;
  std::uint8_t width;
  std::uint64_t offset, operand, compare, token;  // token 0: no answer expected
};
struct acknowledge_header {
  envelope sent;
  std::uint32_t count;
};
struct ring_header {  // RDMA has written what the PE waits for
  envelope sent;
};
// The data begins with the block_descriptor; the blocks follow, except in a gather.
struct blocks_header {
  envelope sent;
  std::uint8_t accumulates;
  number type;
  std::uint64_t offset, first, count, token;
  std::array<std::byte, 16> factor;
};

inline constexpr unsigned message_kinds = static_cast<unsigned>(message_kind::ring) + 1;
[[nodiscard]] constexpr std::size_t header_bytes(message_kind of) {
  switch (of) {
    case message_kind::put:
      return sizeof(put_header);
    case message_kind::coalesced:
      return sizeof(coalesced_header);
    case message_kind::scatter:
    case message_kind::gather:
      return sizeof(blocks_header);
    case message_kind::get:
      return sizeof(get_header);
    case message_kind::reply:
      return sizeof(reply_header);
    case message_kind::amo:
      return sizeof(amo_header);
    case message_kind::acknowledge:
      return sizeof(acknowledge_header);
    case message_kind::ring:
      return sizeof(ring_header);
  }
  return 0;
}

// One put in a coalesced message, or several adjacent ones: this word, then the bytes, padded to a multiple of 8.
struct coalesced_put {
  static constexpr std::size_t most_bytes = std::size_t{32} << 10U;  // of one put
  static constexpr std::size_t most_joined_bytes = 0xFFF8;
  static constexpr std::size_t most_offset = std::size_t{1} << 48U;
  std::uint64_t word;
  coalesced_put(std::size_t offset, std::size_t bytes) : word(offset << 16U | bytes) {}
  explicit coalesced_put(const std::byte* at) { std::memcpy(&word, at, sizeof word); }
  [[nodiscard]] std::size_t offset() const { return word >> 16U; }
  [[nodiscard]] std::size_t bytes() const { return word & 0xFFFFU; }
  static constexpr std::size_t room_for(std::size_t bytes) { return sizeof(std::uint64_t) + (bytes + 7) / 8 * 8; }
};

// Puts of one size at equal distances in a coalesced message, a column of a matrix for instance: this, then their bytes
// one after the other, together padded to a multiple of 8. The first word names no put of so many bytes.
struct coalesced_run {
  static constexpr std::size_t mark = 0xFFFE;    // in place of the bytes of a put
  static constexpr std::size_t most_bytes = 64;  // of one put: of larger ones, the word is a small part
  static constexpr std::uint16_t most_puts = 0xFFFF;
  static constexpr std::uint16_t fewest_puts = 3;  // two take less as they are
  static_assert(mark > coalesced_put::most_joined_bytes);
  std::uint64_t word;  // where the first goes
  std::int32_t stride;
  std::uint16_t bytes, puts;
  coalesced_run() = default;
  coalesced_run(std::size_t first, std::int32_t apart, std::size_t of_each)
      : word(first << 16U | mark), stride(apart), bytes(static_cast<std::uint16_t>(of_each)), puts(0) {}
  [[nodiscard]] std::size_t offset() const { return word >> 16U; }
  [[nodiscard]] std::size_t data_bytes() const { return (std::size_t{puts} * bytes + 7) / 8 * 8; }
};
static_assert(sizeof(coalesced_run) == 16);

// An atomic operation without answer in a coalesced message: its first word names no put of so many bytes.
struct coalesced_amo {
  static constexpr std::size_t mark = 0xFFFF;  // in place of the bytes of a put
  static_assert(mark > coalesced_put::most_joined_bytes);
  std::uint64_t word, operand;
  amo_op op;
  std::uint8_t width;
  coalesced_amo() = default;
  explicit coalesced_amo(const amo& u) : word(u.offset << 16U | mark), operand(u.operand), op(u.op), width(u.width) {}
  [[nodiscard]] amo operation() const { return {op, width, static_cast<std::size_t>(word >> 16U), operand, 0}; }
};

template <class Header>
Header read_header(const void* bytes) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

class sender;

// A message being sent. The transport reads header and payload until it has sent them.
struct message final : transport::outgoing {
  sender* owner = nullptr;
  pool<message>* home = nullptr;
  std::atomic<bool>* sent_flag = nullptr;
  std::vector<std::byte> payload;
  std::size_t payload_bytes = 0, copied_bytes = 0;
  alignas(8) std::byte header[80];

  template <class Header>
  std::size_t set(const Header& content) {
    static_assert(sizeof(Header) <= sizeof header && std::is_trivially_copyable_v<Header>);
    std::memcpy(header, &content, sizeof content);
    return sizeof content;
  }
  void sent() override;  // both with the lock of the protocol held
  [[noreturn]] void lost(const char* why) override;
};

}  // namespace lull::fabric
