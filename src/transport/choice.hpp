// Chooses the transport: over UCX or over libfabric (LULL_TRANSPORT).
//
// `auto` is libfabric where this host has an adapter that only libfabric uses well: Slingshot (cxi), EFA, Omni-Path. It
// is UCX everywhere else, and always for a transport that outlives its peers: libfabric does not report that one failed.
#pragma once
#include <memory>

#include "transport/options.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// Throws lull::error if the library is missing or cannot start. All processes of a job must make the same transport:
// set_address() refuses an address of another one.
[[nodiscard]] std::unique_ptr<transport> make_transport(receiver& to, const options& wanted);

}  // namespace lull::transport
