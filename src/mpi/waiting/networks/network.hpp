// The networks that MPI libraries ask for messages in each turn of their waiting loops, and what a thread sleeps on until
// something comes on one.
//
// A network redirects the call by which the library asks, so that a port (port.hpp) learns what it returned: either that
// call is the beat of the library's loop, or its result is noted until the turn is over. A network is a file in this
// folder.
#pragma once
#include <poll.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/waiting/engine.hpp"
#include "mpi/waiting/port.hpp"

namespace lull::mpi {

// What this thread's library has asked.
struct asked_networks {
  std::uint32_t times = 0;   // ever
  bool came = false;         // in this turn: something was there
  bool descriptors = false;  // in this turn: it has asked sockets
};
extern constinit thread_local asked_networks asked_here [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

enum class when_asked : std::uint8_t { nothing, note, beat };
// What happens if the library asks; set by the port in use.
extern when_asked duty_of_networks [[gnu::visibility("hidden")]];

// A turn of the library's loop is over, in which something `came` or not. May sleep.
inline void turn_is_over(bool came) noexcept {
  this_call.asks_descriptors = std::exchange(asked_here.descriptors, false);
  asked_here.came = false;
  beat(came ? turn::advanced : turn::idle);
}

// The library has asked a network, where something was or not.
inline void network_was_asked(bool came) noexcept {
  ++asked_here.times;
  asked_here.came |= came;
  if (duty_of_networks == when_asked::beat) turn_is_over(came);
}

struct network {
  // Called before MPI_Init: redirects what the library calls there. Null: nothing.
  void (*prepare)(const library_of_waiting& library);
  // Called after MPI_Init: redirects the rest. Returns an empty text, or why no thread can sleep until something comes.
  std::string (*open)();
  // Whether the library uses it.
  bool (*is_used)();
  // Adds descriptors on which messages become visible. Called by the thread that is about to sleep.
  arming (*arm)(std::vector<pollfd>& to);
};

// UCX. A thread that sleeps on it wakes whether a message comes through shared memory or not.
extern const network network_of_ucx;
// Sockets, by poll and epoll_wait.
extern const network network_of_sockets;

}  // namespace lull::mpi
