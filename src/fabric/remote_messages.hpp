// The messages between nodes, as they stand on the wire: a header for each kind. For remote.cpp and remote_serving.cpp.
// Both ends run the same build on machines of one byte order.
#pragma once
#include <cstdint>
#include <cstring>

#include "fabric/remote.hpp"

namespace lull::fabric {

enum message_id : unsigned {
  id_put = 1,
  id_combined,
  id_scatter,
  id_get,
  id_gather,
  id_reply,
  id_update,
  id_acknowledge
};

// How every header begins.
struct envelope {
  std::uint64_t key;  // of the PE that it goes to: what has another one is not of this job
  std::int32_t from;
};

struct put_header {
  envelope sent;
  std::uint8_t has_signal;
  update_op signal_how;
  std::uint8_t signal_whole_node;
  std::uint64_t offset, signal_offset, signal_value;
};
struct combined_header {
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
struct update_header {
  envelope sent;
  update_op op;
  std::uint8_t width;
  std::uint64_t offset, operand, compare, token;  // token 0: no answer wanted
};
struct acknowledge_header {
  envelope sent;
  std::uint32_t count;
};
// The shape follows as the first bytes of the data, then the pieces; of a gather, nothing else.
struct pieces_header {
  envelope sent;
  std::uint8_t accumulates;
  number type;
  std::uint64_t offset, first, count, token;
  std::array<std::byte, 16> factor;
};

// One of the puts in a combined message: this word, then its bytes, padded to a multiple of 8.
struct combined_put {
  static constexpr std::size_t most_bytes = 512;
  static constexpr std::size_t most_offset = std::size_t{1} << 48U;
  std::uint64_t word;
  combined_put(std::size_t offset, std::size_t bytes) : word(offset << 16U | bytes) {}
  explicit combined_put(const std::byte* at) { std::memcpy(&word, at, sizeof word); }
  [[nodiscard]] std::size_t offset() const { return word >> 16U; }
  [[nodiscard]] std::size_t bytes() const { return word & 0xFFFFU; }
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
};

template <class Header>
Header read_header(const void* bytes) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

// A message on its way. UCX reads header and payload until it is sent.
struct remote::message {
  remote* owner;
  std::atomic<bool>* sent;
  std::vector<std::byte> payload;
  std::size_t payload_bytes = 0;
  alignas(8) std::byte header[80];

  template <class Header>
  std::size_t set(const Header& content) {
    static_assert(sizeof(Header) <= sizeof header && std::is_trivially_copyable_v<Header>);
    std::memcpy(header, &content, sizeof content);
    return sizeof content;
  }
  void finished();  // with the owner's lock held: header, payload and source are no longer needed
};

}  // namespace lull::fabric
