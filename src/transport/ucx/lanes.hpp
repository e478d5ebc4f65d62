// The transports of a connection of UCX, and whether they carry out puts and gets without the peer's process.
//
// A connection has several lanes, each over one of UCX's transports, and UCX chooses among them for each operation. From
// 1.14 on it reports them (ucp_ep_query). Accesses certainly need no help from the peer only if every lane is over a
// transport whose adapter reads and writes registered memory: UCX then has no other one to choose. It could still send
// them as messages over such a lane. UCX 1.14 and 1.15 do not, because the key names a lane; 1.16 and newer do so only as
// the last resort, unless the user chooses otherwise.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ucp_ep;

namespace lull::transport {

// Reliable connections of InfiniBand and RoCE. Not: ud_verbs, ud_mlx5 (datagrams: UCX emulates accesses), tcp (emulated,
// though UCX lists puts among its abilities), srd (may emulate), gga_mlx5 (memory of one host).
inline constexpr std::array<std::string_view, 3> transports_of_adapters{"rc_verbs", "rc_mlx5", "dc_mlx5"};

// Whether accesses over lanes of these transports need no help from the peer. No lanes: it is not known.
[[nodiscard]] constexpr bool are_by_adapter(std::span<const std::string_view> lanes) {
  return !lanes.empty() && std::ranges::all_of(lanes, [](std::string_view one) {
    return std::ranges::find(transports_of_adapters, one) != transports_of_adapters.end();
  });
}

// Whether this UCX reports the transports of its connections.
[[nodiscard]] bool ucx_reports_transports();
// The transport of each lane of a connection that is complete; empty if UCX does not report them. The names are UCX's.
[[nodiscard]] std::vector<std::string_view> transports_of(ucp_ep* connection);
// The variable with which the user has chosen how UCX selects protocols, so that it may emulate accesses; null if none.
[[nodiscard]] const char* variable_that_selects_protocols();

}  // namespace lull::transport
