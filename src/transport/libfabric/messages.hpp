// The messages of the transport over libfabric as they are on the wire.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace lull::transport {

enum class form : std::uint8_t {
  first,      // the header of a message, and its payload or the beginning of it
  next,       // the continuation of the payload
  announced,  // the header of a message whose payload waits
  go,         // the payload may be sent, under the tags from `bytes` on
  drop,       // the payload is not wanted
};

struct head {
  form what = form::drop;
  std::uint8_t kind = 0;     // of the message
  std::uint16_t header = 0;  // bytes of its header, behind this
  std::uint32_t number = 0;  // of this piece, among all from this sender to this peer
  std::uint32_t sender = 0;
  std::uint32_t id = 0;      // announced, go, drop: of the announcement
  std::uint64_t secret = 0;  // of the sender
  std::uint64_t bytes = 0;   // of the whole payload; go: the first tag
};
static_assert(sizeof(head) == 32);

// A received piece; `rest` follows its head.
struct piece {
  head front;
  std::span<const std::byte> rest;
};

// Nothing if the bytes cannot be a piece.
[[nodiscard]] inline std::optional<piece> read_piece(std::span<const std::byte> bytes) {
  piece read{};
  if (bytes.size() < sizeof read.front) return std::nullopt;
  std::memcpy(&read.front, bytes.data(), sizeof read.front);
  read.rest = bytes.subspan(sizeof read.front);
  if (read.front.what > form::drop || read.rest.size() < read.front.header) return std::nullopt;
  return read;
}

}  // namespace lull::transport
