// Any other library: Cray MPICH 8, MPICH before 4.1, MVAPICH, and those that Lull does not know.
//
// Beat: the poll of its network: of UCX, libfabric, or sockets. Messages through shared memory arrive unseen, so bells
// wake a thread, and its sleeps are short. A library that polls no network has no beat; its loop stays as it is.
#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/port.hpp"

namespace lull::mpi {
namespace {

arming (*arm_network)(std::vector<pollfd>&) = nullptr;

bool is_for(const library_of_waiting&) { return true; }

std::string open(const library_of_waiting&, port_facts& facts) {
  facts.every_arrival_is_seen = false;
  facts.sleeps_outside_locks = false;  // MPICH and its derivatives poll inside a lock
  arm_network = ofi::is_used() ? ofi::arm : sockets::arm;
  if (ofi::is_used()) {
    ofi::open();
    return {};
  }
  return sockets::open().empty() ? "" : "Lull does not know the waiting loop of this MPI library";
}

void engage(bool by_policy) { duty_of_polls = by_policy ? poll_duty::beat : poll_duty::nothing; }

arming arm(std::vector<pollfd>& to) { return arm_network(to); }

}  // namespace

extern const port any{is_for, nullptr, open, engage, arm, nullptr};

}  // namespace lull::mpi
