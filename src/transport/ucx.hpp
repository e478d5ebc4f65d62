// The transport over UCX: active messages, over whatever network UCX finds. The only room that includes UCX's headers.
//
// Payloads of UCX_RNDV_THRESH bytes and more, 1 MiB unless set, go by rendezvous where order is free, and later
// messages may overtake them. Everything else goes eagerly.
#pragma once
#include <memory>

#include "transport/transport.hpp"

namespace lull::transport {

struct ucx_settings {
  int processes;                // of the job
  bool one_host;                // all are on this host: listen on the loopback alone, unless UCX_NET_DEVICES is set
  bool emulated = false;        // nodes are emulated: no shared memory between them, unless UCX_TLS is set
  bool outlives_peers = false;  // a peer that is gone is told to the receiver; else it ends this process, too
};

// Throws lull::error when UCX cannot start.
[[nodiscard]] std::unique_ptr<transport> make_ucx(receiver& to, const ucx_settings& wanted);

}  // namespace lull::transport
