// What a process needs of its transport: which peers it reaches, and which memory they may access.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace lull::transport {

// Whether memory is exposed. `automatic`: if the network is known to carry out RDMA without the peer; `on`: also if its
// library does not say so, or emulates it.
enum class rdma_use : std::uint8_t { off, automatic, on };

struct options {
  int processes;                // in the job
  int me = 0;                   // the number of this process
  int here = 1;                 // of these, on this host
  bool one_host;                // all are on this host: listen on the loopback only, unless the user names an interface
  bool emulated = false;        // nodes are emulated: no shared memory between them, unless the user names it
  bool outlives_peers = false;  // report a failed peer to the receiver; otherwise its failure ends this process, too
  rdma_use rdma = rdma_use::off;
  std::span<std::byte> memory{};  // to be exposed
};

}  // namespace lull::transport
