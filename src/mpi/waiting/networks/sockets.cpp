// Sockets, which a library polls by poll and epoll_wait without a time-out, itself or through libevent or libfabric.
//
// Wake-up: the descriptors that it polls while this thread is about to sleep. A descriptor of epoll is readable as soon as
// epoll_wait would return something.
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {
namespace {

// A poll counts as this many idle turns, because a system call takes as long.
constexpr std::uint32_t turns_in_a_system_call = 15;
constexpr std::size_t most_descriptors = 4096;

// In the announcement of this number. Only one thread of a process announces a sleep at a time.
struct {
  std::uint32_t announcement = 0;
  std::vector<pollfd> descriptors;
} polled;

bool within_another_network = false;

void note(const pollfd* first, std::size_t count) {
  const std::uint32_t announcement = announced_sleep();
  if (announcement == 0) return;
  if (announcement != polled.announcement) polled.descriptors.clear();
  polled.announcement = announcement;
  for (std::size_t i = 0; i < count && polled.descriptors.size() < most_descriptors; ++i) {
    const auto is_same = [&](const pollfd& one) { return one.fd == first[i].fd && one.events == first[i].events; };
    if (std::ranges::none_of(polled.descriptors, is_same))
      polled.descriptors.push_back({.fd = first[i].fd, .events = first[i].events, .revents = 0});
  }
}

void were_polled(const pollfd* first, std::size_t count, bool came) {
  const int problem = errno;
  call_under_way& call = this_call;
  polls_here.descriptors = true;
  if (!call.waited) call.beats += turns_in_a_system_call;
  note(first, count);
  if (within_another_network)
    polls_here.came |= came;
  else
    network_was_polled(came);
  errno = problem;
}

bool is_poll_of_a_wait(int timeout) { return timeout == 0 && duty_of_polls != poll_duty::nothing && this_call.active; }

int poll_instead(pollfd* of, nfds_t count, int timeout) {
  const int ready = poll(of, count, timeout);
  if (is_poll_of_a_wait(timeout)) were_polled(of, count, ready > 0);
  return ready;
}

int epoll_wait_instead(int of, epoll_event* events, int most, int timeout) {
  const int ready = epoll_wait(of, events, most, timeout);
  const pollfd as_descriptor{.fd = of, .events = POLLIN, .revents = 0};
  if (is_poll_of_a_wait(timeout)) were_polled(&as_descriptor, 1, ready > 0);
  return ready;
}

// The MPI library, and the libraries through which it polls sockets. Calls by the program pass unchanged.
bool may_poll(const loaded_object& object) {
  constexpr std::array beginnings{"libmpi", "libopen-", "mca_", "libevent", "libfabric"};
  const char* const name = object.soname();
  const bool is_provider = std::strstr(name, "-fi.so") != nullptr;  // of libfabric
  return is_provider || std::ranges::any_of(beginnings, [name](const char* one) {
           return std::strncmp(name, one, std::strlen(one)) == 0;
         });
}

}  // namespace

std::string sockets::open(bool within_another) {
  within_another_network = within_another;
  static bool redirected = false;
  if (redirect_calls("poll", &poll_instead, may_poll) != nullptr) redirected = true;
  if (redirect_calls("epoll_wait", &epoll_wait_instead, may_poll) != nullptr) redirected = true;
  return redirected ? "" : "no part of this MPI library polls sockets by poll or epoll_wait";
}

arming sockets::arm(std::vector<pollfd>& to) {
  if (!this_call.asks_descriptors || polled.announcement == 0 || polled.announcement != announced_sleep())
    return arming::none;
  to.insert(to.end(), polled.descriptors.begin(), polled.descriptors.end());
  return arming::armed;
}

}  // namespace lull::mpi
