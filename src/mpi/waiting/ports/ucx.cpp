// Any library that communicates only through UCX: pml ucx of Open MPI, and Debian's MPICH.
//
// Beat: ucp_worker_progress, whose result says whether something has come.
#include <sched.h>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/ports/openmpi_objects.hpp"

namespace lull::mpi {
namespace {

bool is_for(const library_of_waiting&) { return ucx::is_used(); }

int yield_instead() {
  ++this_call.yields;
  return sched_yield();
}

std::string open(const library_of_waiting& of, port_facts& facts) {
  facts.library_yields = yields_when_idle(of.handle);
  facts.yields_are_counted =
      facts.library_yields && redirect_calls("sched_yield", &yield_instead, is_of_open_mpi) != nullptr;
  facts.descriptors_show_everything = true;
  facts.sleeps_outside_locks = false;  // MPICH progresses its worker inside a lock
  return ucx::open();
}

arming arm(std::vector<pollfd>& to) { return ucx::arm(to); }

void engage(bool by_policy) { duty_of_polls = by_policy ? poll_duty::beat : poll_duty::nothing; }

}  // namespace

extern const port over_ucx{is_for, nullptr, open, engage, arm, nullptr};

}  // namespace lull::mpi
