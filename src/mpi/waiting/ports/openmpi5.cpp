// Open MPI 5 with any pml but ucx: ob1 over shared memory and TCP, and cm over libfabric.
//
// Beat: opal_progress, which returns the number of events that it has found; polls of networks count separately.
// Wake-up: bells, and the descriptors of libfabric's queues or the sockets that it has just polled.
#include <dlfcn.h>
#include <sched.h>

#include <cstring>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/ports/openmpi_objects.hpp"

namespace lull::mpi {
namespace {

// Open MPI checks low-priority sources in every eighth call of its progress.
constexpr unsigned beats_to_see_everything = 9;

struct {
  int (*progress)() = nullptr;
  bool by_policy = false;
} library;
constinit thread_local bool progress_is_running [[gnu::tls_model("initial-exec")]] = false;

int progress_instead() {
  if (!library.by_policy || progress_is_running) return library.progress();
  progress_is_running = true;
  const int events = library.progress();
  progress_is_running = false;
  turn_is_over(events > 0 || polls_here.came);
  return events;
}

int yield_instead() {
  ++this_call.yields;
  return sched_yield();
}

bool is_for(const library_of_waiting& of) {
  return std::strncmp(of.version, "Open MPI v", 10) == 0 && std::strncmp(of.version, "Open MPI v4", 11) != 0;
}

std::string open(const library_of_waiting& of, port_facts& facts) {
  library.progress = reinterpret_cast<int (*)()>(dlsym(of.handle, "opal_progress"));
  if (library.progress == nullptr || redirect_calls("opal_progress", &progress_instead, is_of_open_mpi) == nullptr)
    return "cannot find the idle loop of this Open MPI";
  facts.library_yields = yields_when_idle(of.handle);
  facts.yields_are_counted =
      facts.library_yields && redirect_calls("sched_yield", &yield_instead, is_of_open_mpi) != nullptr;
  facts.beats_to_see_everything = beats_to_see_everything;
  // If neither works, a rank does not sleep if it waits for other nodes.
  if (ofi::is_used())
    ofi::open();
  else
    sockets::open();
  return {};
}

void engage(bool by_policy) {
  duty_of_polls = by_policy ? poll_duty::note : poll_duty::nothing;
  library.by_policy = by_policy;
}

arming arm(std::vector<pollfd>& to) { return ucx::arm_windows(to, ofi::is_used() ? ofi::arm(to) : sockets::arm(to)); }

}  // namespace

extern const port openmpi5{is_for, nullptr, open, engage, arm, nullptr};

}  // namespace lull::mpi
