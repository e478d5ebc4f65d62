// Intel MPI.
//
// Beat: sched_yield. Variables that the library reads in MPI_Init make it yield after ten idle turns; under a policy the
// call returns at once. Messages through shared memory arrive unseen, so bells wake a thread, and its sleeps are short.
// Messages from other nodes arrive through libfabric, or on the sockets that it polls.
#include <sched.h>

#include <array>
#include <cstring>

#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/ports/variables.hpp"

namespace lull::mpi {
namespace {

constexpr std::array yields{variable{"I_MPI_THREAD_YIELD", "2"}, variable{"I_MPI_SPIN_COUNT", "10"},
                            variable{"I_MPI_COLL_SHM_PROGRESS_SPIN_COUNT", "10"}};
// About three microseconds: the library yields about once in a microsecond.
constexpr std::uint32_t beats_before_clock = 4;

struct {
  bool by_policy = false;
  bool yields_for_us = false;  // it would not yield without Lull
} library;

int yield_instead() {
  if (library.by_policy && this_call.active) {
    turn_is_over(polls_here.came);
    return 0;
  }
  return library.yields_for_us ? 0 : sched_yield();
}

bool is_for(const library_of_waiting& of) { return std::strncmp(of.version, "Intel(R) MPI Library", 20) == 0; }

void prepare(const library_of_waiting& of) {
  if (!is_for(of) || redirect_calls("sched_yield", &yield_instead, is_mpich_or_derived) == nullptr) return;
  // A user who chooses when to yield also chooses after how many turns.
  const bool by_user = text_of_environment(yields[0].name) != nullptr;
  library.yields_for_us = !by_user && set_for_library<yields>(is_mpich_or_derived);
}

std::string open(const library_of_waiting&, port_facts& facts) {
  facts.every_arrival_is_seen = false;
  facts.beats_before_clock = beats_before_clock;
  if (ofi::is_used())
    ofi::open();
  else
    sockets::open();
  return {};
}

void engage(bool by_policy) {
  library.by_policy = by_policy;
  duty_of_polls = by_policy ? poll_duty::note : poll_duty::nothing;
}

arming arm(std::vector<pollfd>& to) { return ofi::is_used() ? ofi::arm(to) : sockets::arm(to); }

}  // namespace

extern const port intel{is_for, prepare, open, engage, arm, nullptr};

}  // namespace lull::mpi
