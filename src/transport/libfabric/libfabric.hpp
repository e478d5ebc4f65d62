// The transport over libfabric, by messages, tagged messages and, for RDMA, reads and writes of an endpoint of type
// FI_EP_RDM.
//
// A message is sent in pieces of at most 64 KiB (less over some adapters). Each piece carries its number among all
// pieces from this process to that peer, and the receiver puts them in order: providers order how messages match, not
// how they complete, and some order nothing. A payload from overtakable_from() bytes on with order::free is announced;
// the receiver then posts a tagged receive and answers `go`, or `drop` if it does not fetch the payload. So no payload
// arrives before its receive is posted, and libfabric need not copy it.
//
// Each piece carries a secret of its sender, which its address contains. A piece without the secret of a peer is
// passed on as a message of a stranger, unless it announces a payload.
//
// libfabric does not report that a peer has failed: some providers fail a later operation on it, others connect to it for
// ever. So this transport cannot outlive its peers.
#pragma once
#include <memory>

#include "transport/options.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// Throws lull::error if libfabric is missing, or cannot start.
[[nodiscard]] std::unique_ptr<transport> make_libfabric(receiver& to, const options& wanted);

}  // namespace lull::transport
