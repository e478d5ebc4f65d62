#include "transport/ucx/lanes.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "base/environment.hpp"
#include "transport/ucx/library.hpp"

namespace lull::transport {
namespace {

constexpr std::size_t most_lanes = 64;  // UCX 1.18 has at most 16 for a connection

// The structures of ucp_ep_query() of UCX 1.14 and newer: the headers may be those of 1.13, which has the function, but
// not these fields. UCX adds fields only at the end, and reads those that the mask or the size names.
struct entry {
  const char* transport_name;
  const char* device_name;
};
struct entries {
  entry* first;
  unsigned count;  // in: of the array, out: of the lanes
  std::size_t entry_bytes;
};
struct attributes {
  std::uint64_t field_mask;
  char name[UCP_ENTITY_NAME_MAX];
  sockaddr_storage local, remote;
  entries transports;
};
constexpr std::uint64_t field_of_transports = 1U << 3U;

#if UCP_API_VERSION >= UCP_VERSION(1, 14)
static_assert(field_of_transports == UCP_EP_ATTR_FIELD_TRANSPORTS && sizeof(attributes) <= sizeof(ucp_ep_attr_t) &&
              offsetof(attributes, transports) == offsetof(ucp_ep_attr_t, transports) &&
              sizeof(entries) == sizeof(ucp_transports_t) &&
              offsetof(entries, count) == offsetof(ucp_transports_t, num_entries) &&
              offsetof(entries, entry_bytes) == offsetof(ucp_transports_t, entry_size) &&
              offsetof(entry, transport_name) == offsetof(ucp_transport_entry_t, transport_name) &&
              offsetof(entry, device_name) == offsetof(ucp_transport_entry_t, device_name));
#endif

}  // namespace

bool ucx_reports_transports() { return ucx_version() >= version_of_ucx{1, 14}; }

std::vector<std::string_view> transports_of(ucp_ep* connection) {
  if (!ucx_reports_transports()) return {};
  std::array<entry, most_lanes> lanes{};
  attributes answer{};
  answer.field_mask = field_of_transports;
  answer.transports = {.first = lanes.data(), .count = most_lanes, .entry_bytes = sizeof(entry)};
  if (library.ucp_ep_query(connection, reinterpret_cast<ucp_ep_attr_t*>(&answer)) != UCS_OK ||
      answer.transports.count >= most_lanes)  // there may be more
    return {};
  std::vector<std::string_view> names;
  for (const entry& one : std::span(lanes).first(answer.transports.count))
    names.emplace_back(one.transport_name != nullptr ? one.transport_name : "");
  return names;
}

const char* variable_that_selects_protocols() {
  for (const char* const name : {"UCX_PREFER_OFFLOAD", "UCX_PROTOS", "UCX_PROTO_ENABLE"})
    if (variable_of_environment(name)) return name;
  return nullptr;
}

}  // namespace lull::transport
