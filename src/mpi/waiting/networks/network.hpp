// The networks that MPI libraries poll for messages in each turn of their waiting loops, and the descriptors on which a
// thread sleeps until a message arrives.
//
// A network redirects the call by which the library polls it, and passes the result to the port (port.hpp): the call
// either is the beat of the library's loop, or its result is kept until the turn is over. Each network is a file in this
// folder.
#pragma once
#include <poll.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mpi/waiting/engine.hpp"
#include "mpi/waiting/port.hpp"

namespace lull::mpi {

// The polls of this thread.
struct network_polls {
  std::uint32_t times = 0;   // since the thread started
  bool came = false;         // in this turn: a poll found something
  bool descriptors = false;  // in this turn: sockets were polled
};
extern constinit thread_local network_polls polls_here [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

enum class poll_duty : std::uint8_t { nothing, note, beat };
// What a poll does besides; set by the port in use.
extern poll_duty duty_of_polls [[gnu::visibility("hidden")]];

// A turn of the library's loop is over, in which something `came` or not. May sleep.
inline void turn_is_over(bool came) noexcept {
  this_call.asks_descriptors = std::exchange(polls_here.descriptors, false);
  polls_here.came = false;
  beat(came ? turn::advanced : turn::idle);
}

// The library has polled a network, and found something (`came`) or nothing.
inline void network_was_polled(bool came) noexcept {
  ++polls_here.times;
  polls_here.came |= came;
  if (duty_of_polls == poll_duty::beat) turn_is_over(polls_here.came);
}

// Calls redirect(), and again whenever Open MPI has opened the plugin of that name: its plugins are loaded in MPI_Init.
void now_and_after_plugin(const library_of_waiting& library, const char* plugin, void (*redirect)());

// Redirects the calls that the library makes in MPI_Init, before that, for all networks.
void prepare_networks(const library_of_waiting& library);

// UCX. Its descriptors also signal messages through shared memory.
namespace ucx {
void prepare(const library_of_waiting& library);
// The functions below are called after MPI_Init. Whether the library uses UCX.
[[nodiscard]] bool is_used();
// Returns an empty text, or why no thread can sleep until a message arrives.
[[nodiscard]] std::string open();
// Adds descriptors that signal messages. Called by the thread that is about to sleep.
arming arm(std::vector<pollfd>& to);
// Adds those of UCX where only windows use it; `messages`: what another network has added for messages.
arming arm_windows(std::vector<pollfd>& to, arming messages);
}  // namespace ucx

// libfabric. If its provider has no descriptors, those of the sockets that it polls.
namespace ofi {
// As those of ucx.
void prepare(const library_of_waiting& library);
[[nodiscard]] bool is_used();
void open();
arming arm(std::vector<pollfd>& to);
}  // namespace ofi

// Sockets that are polled by poll or epoll_wait.
namespace sockets {
// Called after MPI_Init. Returns an empty text, or why sockets never signal messages to this library. `within_another`:
// they are polled while another network is, whose poll counts.
std::string open(bool within_another = false);
// As ucx::arm().
arming arm(std::vector<pollfd>& to);
}  // namespace sockets

}  // namespace lull::mpi
