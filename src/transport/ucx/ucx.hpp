// The transport over UCX, by active messages over any network that UCX finds. No other room includes UCX's headers.
//
// Payloads of at least UCX_RNDV_THRESH bytes, 1 MiB unless set, use the rendezvous protocol if order is free, and later
// messages may overtake them. All others use the eager protocol. memory.hpp exposes memory to RDMA.
#pragma once
#include <memory>

#include "transport/options.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// Throws lull::error if UCX cannot start.
[[nodiscard]] std::unique_ptr<transport> make_ucx(receiver& to, const options& wanted);

}  // namespace lull::transport
