// Intel MPI, and the libraries of others that it calls: libfabric's providers.
//
// Beat: sched_yield, which it calls in each turn if it is told to yield after some turns without success. It is told so by
// variables that it reads in MPI_Init; the call then returns at once. What comes through shared memory passes unseen, so
// bells wake a thread, and its sleeps are short. Messages of other nodes show in the sockets that libfabric asks.
//
// The library closes itself against a beat of its network: it loads libfabric by a path and a version.
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
// Idle turns in about three microseconds, which are short of them.
constexpr std::uint32_t beats_before_clock = 4;

struct {
  bool by_policy = false;
  bool yields_by_us = false;
} library;

int yield_instead() {
  if (library.by_policy && this_call.active) {
    turn_is_over(asked_here.came);
    return 0;
  }
  return library.yields_by_us ? 0 : sched_yield();
}

bool is_for(const library_of_waiting& of) { return std::strncmp(of.version, "Intel(R) MPI Library", 20) == 0; }

void prepare(const library_of_waiting& of) {
  if (!is_for(of) || redirect_calls("sched_yield", &yield_instead, is_mpich_or_derived) == nullptr) return;
  const bool by_user = text_of_environment(yields[0].name) != nullptr;
  library.yields_by_us = set_for_library<yields>(is_mpich_or_derived) && !by_user;
}

std::string open(const library_of_waiting&, port_facts& facts) {
  facts.every_arrival_is_seen = false;
  facts.beats_before_clock = beats_before_clock;
  network_of_sockets.open();
  return {};
}

void engage(bool by_policy) {
  library.by_policy = by_policy;
  duty_of_networks = by_policy ? when_asked::note : when_asked::nothing;
}

arming arm(std::vector<pollfd>& to) { return network_of_sockets.arm(to); }

}  // namespace

extern const port intel{is_for, prepare, open, engage, arm, nullptr};

}  // namespace lull::mpi
