// Addresses begin with the name of their transport, because all processes of a job must use the same one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/received_bytes.hpp"

namespace lull::transport {

// Appends a number or another plain value.
template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The beginning of an address. `transport`: of at most 255 characters, e.g. "UCX".
[[nodiscard]] inline std::vector<std::byte> begin_address(std::string_view transport) {
  std::vector<std::byte> address;
  append(address, static_cast<std::uint8_t>(transport.size()));
  const auto name = std::as_bytes(std::span(transport));
  address.insert(address.end(), name.begin(), name.end());
  return address;
}

// Reads that beginning; the reader then continues with the rest. Throws lull::error if the peer uses another transport.
[[nodiscard]] inline received_bytes open_address(std::span<const std::byte> address, std::string_view transport,
                                                 int peer) {
  const std::string action = "reach process " + std::to_string(peer);
  received_bytes read(address, action);
  const auto name = read.take(read.take<std::uint8_t>());
  const std::string_view theirs(reinterpret_cast<const char*>(name.data()), name.size());
  if (theirs != transport)
    throw error(action, "it uses " + std::string(theirs) + ", and this process " + std::string(transport),
                "set LULL_TRANSPORT, and LULL_LIBFABRIC_PROVIDER for libfabric, to the same on all hosts");
  return read;
}

}  // namespace lull::transport
