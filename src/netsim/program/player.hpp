// Programs on the nodes of the network: executes the operations of every process, and is what the network knows as a
// workload.
//
// A process computes, and sends and receives messages as MPI does: a message of at most `eager` bytes leaves at once,
// and its send is over when its last byte has left the node; a longer one asks first, and leaves when a receive for it
// is there (rendezvous). Receives are matched in order, by source, tag and group. Collectives become messages by the
// algorithm that collective.hpp chooses. Puts, gets and atomics are served at their target without its process.
// Processes of the same node exchange messages through memory, which the network does not see.
//
//   host.hpp         a node, as the network knows it: what is due there when
//   protocol.hpp     how messages get from process to process; matching.hpp, which receive takes which
//   executor.hpp     one process: its operations in turn, beside them those of collectives
//   program_run.hpp  all of them together, as a workload
#pragma once
#include <memory>

#include "netsim/program/program.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// The keys of a job that say how programs run, the same for all of them: per_node, repeats, compute_scale, eager,
// overhead, envelope, and one for each family of collectives.
[[nodiscard]] const std::vector<key>& program_keys();

// `setup.job().own` has the values of program_keys(); those that are not there are the defaults.
[[nodiscard]] std::unique_ptr<workload> play(const job_setup& setup, std::unique_ptr<program> what);

// A row of the table of workloads that makes a program. `keys` are its own; those of all programs are added.
[[nodiscard]] workload_entry program_entry(const char* name, const char* meaning, std::vector<key> keys,
                                           std::unique_ptr<program> (*make)(const job_setup&));

}  // namespace lull::netsim
