// How a message of the protocol leaves. For the files that implement protocol.hpp alone: protocol.cpp and
// protocol_rdma.cpp, in which send() is to be inlined.
//
// With the lock of the protocol held. What is sent stays the message's until the transport says that it is sent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/clock.hpp"
#include "fabric/protocol/protocol.hpp"

namespace lull::fabric {

inline std::uint64_t token_of(const reply& answer) { return reinterpret_cast<std::uint64_t>(&answer); }

// `signal` null: none. `token` 0: it is acknowledged; else the reply of that token is answered.
inline put_header with_signal(const envelope& sent, std::size_t offset, const signal_amo* signal,
                              std::uint64_t token = 0) {
  put_header header{.sent = sent,
                    .has_signal = 0,
                    .signal_how = amo_op::set,
                    .signal_whole_node = 0,
                    .offset = offset,
                    .signal_offset = 0,
                    .signal_value = 0,
                    .token = token};
  if (!signal) return header;
  header.has_signal = 1;
  header.signal_how = signal->how;
  header.signal_whole_node = signal->whole_node ? 1 : 0;
  header.signal_offset = signal->offset;
  header.signal_value = signal->value;
  return header;
}

// Times some of the small ones, for what a message costs its sender.
template <class Header>
void protocol::send(pe_id pe, message_kind kind, message& m, const Header& header, const void* data, std::size_t bytes,
                    transport::order wanted) {
  const std::size_t header_bytes = m.set(header);
  const auto give = [&] {
    transport_->send(pe.index(), static_cast<unsigned>(kind), m, {m.header, header_bytes}, data, bytes, wanted);
  };
  constexpr unsigned messages_per_sample = 16;  // one of so many small ones is timed
  constexpr std::size_t small = 512;            // and not the first one, which connects
  if (bytes > small || ++messages_seen_ % messages_per_sample != 0 || !transformer_.measures()) return give();
  const std::int64_t begin = now_ns();
  give();
  const std::int64_t took = now_ns() - begin;
  const std::lock_guard quickly(quick_);
  transformer_.message_took(took);
}

}  // namespace lull::fabric
