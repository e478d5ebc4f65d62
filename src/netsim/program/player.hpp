// Runs programs on the nodes of the network: executes the operations of every process, and appears to the network as a
// workload.
//
// A process computes, and sends and receives messages as in MPI: a message of at most `eager` bytes leaves at once, and
// its send is complete when its last byte has left the node; a longer one sends a request first, and leaves when a
// receive for it is posted (rendezvous). Receives are matched in order, by source, tag and group. Collectives become
// messages by the algorithm that collective.hpp chooses. Puts, gets and atomics are served at their target without
// involving its process. Processes on the same node exchange messages through memory, without the network.
//
//   host.hpp         a node, as the network sees it: the events due there
//   protocol.hpp     how messages travel between processes; matching.hpp, which receive takes which message
//   executor.hpp     one process: its operations in order, and concurrently those of collectives
//   program_run.hpp  all processes together, as a workload
#pragma once
#include <memory>

#include "netsim/program/program.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// The keys of a job that determine how programs run, the same for all programs: per_node, repeats, compute_scale,
// eager, overhead, envelope, and one for each family of collectives.
[[nodiscard]] const std::vector<key>& program_keys();

// `setup.job().own` has the values of program_keys(); missing ones have their defaults.
[[nodiscard]] std::unique_ptr<workload> play(const job_setup& setup, std::unique_ptr<program> what);

// A row of the table of workloads for a program. `keys` are those of the program; the keys of all programs are added.
[[nodiscard]] workload_entry program_entry(const char* name, const char* meaning, std::vector<key> keys,
                                           std::unique_ptr<program> (*make)(const job_setup&));

}  // namespace lull::netsim
