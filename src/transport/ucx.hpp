// The transport over UCX, by active messages over any network that UCX finds. No other room includes UCX's headers.
//
// Payloads of at least UCX_RNDV_THRESH bytes, 1 MiB unless set, use the rendezvous protocol if order is free, and later
// messages may overtake them. All others use the eager protocol. ucx_memory.hpp exposes memory to RDMA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/remote_memory.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// Whether memory is exposed. `automatic`: if the network is known to carry out RDMA without the peer; `on`: also if UCX
// does not say so, or emulates it.
enum class rdma_use : std::uint8_t { off, automatic, on };

struct ucx_settings {
  int processes;                // in the job
  bool one_host;                // all are on this host: listen on the loopback only, unless UCX_NET_DEVICES is set
  bool emulated = false;        // nodes are emulated: no shared memory between them, unless UCX_TLS is set
  bool outlives_peers = false;  // report a failed peer to the receiver; otherwise its failure ends this process, too
  rdma_use rdma = rdma_use::off;
  std::span<std::byte> memory{};  // to be exposed
};

// Throws lull::error if UCX cannot start.
[[nodiscard]] std::unique_ptr<transport> make_ucx(receiver& to, const ucx_settings& wanted);

}  // namespace lull::transport
