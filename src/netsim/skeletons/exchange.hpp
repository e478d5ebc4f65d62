// An exchange of messages with neighbours, as applications make it: all receives are posted, then all is sent, then all
// is waited for.
#pragma once
#include <cstdint>
#include <vector>

#include "netsim/program/stream.hpp"

namespace lull::netsim {

// Bytes to it and from it; 0: no message.
struct partner {
  std::uint32_t rank;
  std::uint64_t sent;
  std::uint64_t received;
};

// Uses requests from 0 on. `partners` must live as long as the stream.
inline stream exchange_with(const std::vector<partner>& partners, std::uint32_t tag) {
  const auto others = static_cast<std::uint32_t>(partners.size());
  for (std::uint32_t i = 0; i < others; ++i)
    if (partners[i].received != 0) co_yield does::receive(partners[i].rank, partners[i].received, tag, i);
  for (std::uint32_t i = 0; i < others; ++i)
    if (partners[i].sent != 0) co_yield does::send(partners[i].rank, partners[i].sent, tag, others + i);
  for (std::uint32_t i = 0; i < others; ++i)
    if (partners[i].received != 0) co_yield does::wait(i);
  for (std::uint32_t i = 0; i < others; ++i)
    if (partners[i].sent != 0) co_yield does::wait(others + i);
}

}  // namespace lull::netsim
