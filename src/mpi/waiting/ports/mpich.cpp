// MPICH with the device ch4, which has shared memory of its own, and libraries derived from it.
//
// Beat: the poll of the network. MPICH skips it in a turn in which shared memory had something.
// Marker: the yield at the end of each turn. A turn without a poll has found something in shared memory. MPICH 5 calls
// sched_yield, which takes longer than the turn; MPICH 4.1 to 4.3 call nanosleep if MPIR_CVAR_ENABLE_HEAVY_YIELD is set,
// which Lull does for the library. Under a policy both calls return at once.
//
// MPICH polls the network inside a lock, and yields outside. If several threads may call MPI, the marker is the beat.
// Collectives in which MPICH spins on flags in shared memory poll the network rarely, and have no markers.
#include <sched.h>
#include <time.h>

#include <array>
#include <cstdio>

#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/ports/variables.hpp"

namespace lull::mpi {
namespace {

constexpr std::array heavy_yield{variable{"MPIR_CVAR_ENABLE_HEAVY_YIELD", "1"}};
constexpr long ns_of_heavy_yield = 1;

struct {
  bool by_policy = false;
  bool has_marker = false;
  bool marker_is_beat = false;
  bool yields_for_us = false;  // 4.x: it would not yield without Lull
} library;
constinit thread_local std::uint32_t polls_at_marker [[gnu::tls_model("initial-exec")]] = 0;

// Returns whether the library need not yield.
bool turn_is_marked() {
  if (!library.by_policy || !this_call.active) return false;
  const bool skipped = polls_here.times == std::exchange(polls_at_marker, polls_here.times) && polls_here.times != 0;
  if (library.marker_is_beat)
    turn_is_over(skipped || polls_here.came);
  else if (skipped)
    turn_is_over(true);
  return true;
}

int yield_instead() { return turn_is_marked() ? 0 : sched_yield(); }

int nanosleep_instead(const timespec* asked, timespec* remains) {
  const bool is_yield = asked != nullptr && asked->tv_sec == 0 && asked->tv_nsec == ns_of_heavy_yield;
  if (is_yield && (turn_is_marked() || library.yields_for_us)) return 0;
  return nanosleep(asked, remains);
}

struct version {
  int major = 0, minor = 0;
};
// Of a library that is derived from MPICH: that of the MPICH on which it is based.
version version_of(const library_of_waiting& of) {
  version found;
  for (const char* const form : {"MPICH Version: %d.%d", "CRAY MPICH version %*s (ANL base %d.%d"})
    if (std::sscanf(of.version, form, &found.major, &found.minor) == 2) return found;
  return {};
}

void prepare(const library_of_waiting& of) {
  const version found = version_of(of);
  if (found.major >= 5) {
    library.has_marker = redirect_calls("sched_yield", &yield_instead, is_mpich_or_derived) != nullptr;
  } else if (found.major == 4 && found.minor >= 1) {
    if (redirect_calls("nanosleep", &nanosleep_instead, is_mpich_or_derived) == nullptr) return;
    const bool by_user = text_of_environment(heavy_yield[0].name) != nullptr;
    library.yields_for_us = !by_user && set_for_library<heavy_yield>(is_mpich_or_derived);
    library.has_marker = by_user || library.yields_for_us;
  }
}

bool is_for(const library_of_waiting& of) { return version_of(of).major != 0 && library.has_marker; }

std::string open(const library_of_waiting& of, port_facts& facts) {
  const bool polls_are_seen = ucx::is_used() || ofi::is_used();
  library.marker_is_beat = of.several_threads || !polls_are_seen;
  facts.sleeps_outside_locks = true;
  facts.passes_by_flags = true;
  facts.beats_before_clock = 8;  // where ranks watch flags, a beat takes 0.6 microseconds
  if (ucx::is_used()) return ucx::open();
  if (ofi::is_used())
    ofi::open();
  else
    sockets::open();
  return {};
}

void engage(bool by_policy) {
  library.by_policy = by_policy;
  duty_of_polls = !by_policy ? poll_duty::nothing : library.marker_is_beat ? poll_duty::note : poll_duty::beat;
}

arming arm(std::vector<pollfd>& to) {
  return ucx::is_used() ? ucx::arm(to) : ofi::is_used() ? ofi::arm(to) : sockets::arm(to);
}

}  // namespace

extern const port mpich{is_for, prepare, open, engage, arm, nullptr};

}  // namespace lull::mpi
