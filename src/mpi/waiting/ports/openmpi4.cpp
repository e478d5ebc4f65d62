// Open MPI 4.1 with pml ob1 over shared memory and TCP.
//
// Beat: opal_progress, which returns no value. If it is configured to yield, it calls sched_yield when it found nothing
// to do; data over TCP does not count there, but sockets report it. Wake-up: the functions by which the library sends
// through shared memory ring the receiver (openmpi.c), and the sockets that it has just polled.
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>

#include "base/redirect.hpp"
#include "mpi/waiting/bells.hpp"
#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/openmpi.h"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/ports/openmpi_objects.hpp"

namespace lull::mpi {
namespace {

// Open MPI checks low-priority sources in every eighth call of its progress.
constexpr unsigned beats_to_see_everything = 9;

struct {
  void (*progress)() = nullptr;
  bool by_policy = false;
  bool yields = false;
  node_bells* bells = nullptr;
  bool several_threads = false;
} library;

// The progress that is running in this thread.
struct progress_under_way {
  bool running = false;
  bool idle = false;  // it found nothing to do
};
constinit thread_local progress_under_way this_progress [[gnu::tls_model("initial-exec")]];

// Maps the endpoint of a message in shared memory to the receiver's bell. Called for each fragment that is sent, by any
// thread: a load and a comparison, some nanoseconds.
class receivers {
 public:
  // -1: its bell is not known yet.
  int bell_of(const void* endpoint) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(endpoint);
    std::atomic<std::uint64_t>& entry = entries_[address / 64 % entries_.size()];
    const std::uint64_t known = entry.load(std::memory_order_relaxed);
    if (known >> bits_of_bell == address) return static_cast<int>(known & most_bells);
    const int rank = lull_openmpi_rank_of(endpoint);
    const int bell = rank < 0 ? -1 : library.bells->index_of(rank);
    // An address that does not fit next to a bell is looked up every time.
    if (bell >= 0 && bell <= most_bells && address >> (64 - bits_of_bell) == 0)
      entry.store(address << bits_of_bell | static_cast<std::uint64_t>(bell), std::memory_order_relaxed);
    return bell;
  }

 private:
  static constexpr unsigned bits_of_bell = 16;
  static constexpr int most_bells = (1 << bits_of_bell) - 1;
  std::array<std::atomic<std::uint64_t>, 1024> entries_{};  // address and bell in one word
};
receivers to;

// Called for messages.

void message_sent(const void* endpoint) {
  const int receiver = to.bell_of(endpoint);
  if (receiver >= 0) return library.bells->ring(receiver);
  for (int i = 0; i < library.bells->ranks_of_node(); ++i) library.bells->ring(i);  // the receiver is one of them
}
void fragment_sent(const void* endpoint) {
  const int receiver = to.bell_of(endpoint);
  if (receiver >= 0) library.bells->sent_to(receiver);
}
void message_sent_to_self() {
  if (library.several_threads) library.bells->ring_me();
}

// Redirected calls.

void progress_instead() {
  progress_under_way& here = this_progress;
  if (!library.by_policy || here.running) return library.progress();  // running: a call from within progress
  here = {.running = true};
  library.progress();
  here.running = false;
  turn_is_over(!here.idle || polls_here.came);
}

int yield_instead() {
  progress_under_way& here = this_progress;
  if (!here.running) return sched_yield();
  here.idle = true;
  return this_call.active || !library.yields ? 0 : sched_yield();
}

bool is_for(const library_of_waiting& of) { return std::strncmp(of.version, "Open MPI v4.", 12) == 0; }

std::string open(const library_of_waiting& of, port_facts& facts) {
  lull_openmpi found{};
  if (const char* const why = lull_openmpi_open(&found, of.handle)) return why;
  library.progress = found.progress;
  if (redirect_calls("opal_progress", &progress_instead, is_of_open_mpi) == nullptr ||
      redirect_calls("sched_yield", &yield_instead, is_of_open_mpi) == nullptr)
    return "cannot find the idle loop of this Open MPI";
  if (std::string why = sockets::open(); !why.empty()) return why;
  library.yields = found.yields;
  facts.ranks_of_node = found.ranks_of_node;
  facts.library_yields = found.yields;
  facts.rings_exactly = true;
  facts.beats_before_clock = facts.beats_before_waiting;  // some microseconds
  facts.beats_to_see_everything = beats_to_see_everything;
  return {};
}

void engage(bool by_policy) {
  duty_of_polls = by_policy ? poll_duty::note : poll_duty::nothing;
  library.by_policy = by_policy;
  lull_openmpi_yield_when_idle(by_policy || library.yields);
}

// If messages arrive on descriptors, the library checks them every time, otherwise a hundred times a second: those of
// one turn of the loop tell nothing.
arming arm(std::vector<pollfd>& to) { return ucx::arm_windows(to, sockets::arm(to)); }

void ring_with(node_bells& bells, bool several_threads) {
  library.bells = &bells;
  library.several_threads = several_threads;
  lull_openmpi_tell_of_sends(bells.somebody(), message_sent, fragment_sent, message_sent_to_self);
}

}  // namespace

extern const port openmpi4{is_for, nullptr, open, engage, arm, ring_with};

}  // namespace lull::mpi
