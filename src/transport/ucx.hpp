// The transport over UCX: active messages, over whatever network UCX finds. The only room that includes UCX's headers.
//
// Payloads of UCX_RNDV_THRESH bytes and more, 1 MiB unless set, go by rendezvous where order is free, and later
// messages may overtake them. Everything else goes eagerly. Memory that is given is exposed to RDMA (ucx_memory.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/remote_memory.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// Whether memory is exposed: where it is known that the network puts and gets by itself; or also where UCX does not
// tell, or emulates it.
enum class rdma_use : std::uint8_t { off, automatic, on };

struct ucx_settings {
  int processes;                // of the job
  bool one_host;                // all are on this host: listen on the loopback alone, unless UCX_NET_DEVICES is set
  bool emulated = false;        // nodes are emulated: no shared memory between them, unless UCX_TLS is set
  bool outlives_peers = false;  // a peer that is gone is told to the receiver; else it ends this process, too
  rdma_use rdma = rdma_use::off;
  std::span<std::byte> memory{};  // to be exposed
};

// Throws lull::error when UCX cannot start.
[[nodiscard]] std::unique_ptr<transport> make_ucx(receiver& to, const ucx_settings& wanted);

}  // namespace lull::transport
