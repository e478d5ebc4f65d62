// Sockets: what a library asks without waiting by poll and epoll_wait, itself or through libevent or libfabric.
//
// Wake-up: the descriptors that it asks while this thread is about to sleep. A descriptor of epoll is readable as soon as
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

// A poll counts as this many idle turns, since a system call takes that long.
constexpr std::uint32_t turns_in_a_system_call = 15;
constexpr std::size_t most_descriptors = 4096;

// In the announcement of this number. Only one thread of a process announces a sleep at a time.
struct {
  std::uint32_t announcement = 0;
  std::vector<pollfd> descriptors;
} asked;

void note(const pollfd* first, std::size_t count) {
  const std::uint32_t announcement = announced_sleep();
  if (announcement == 0) return;
  if (announcement != asked.announcement) asked.descriptors.clear();
  asked.announcement = announcement;
  for (std::size_t i = 0; i < count && asked.descriptors.size() < most_descriptors; ++i) {
    const auto is_same = [&](const pollfd& one) { return one.fd == first[i].fd && one.events == first[i].events; };
    if (std::ranges::none_of(asked.descriptors, is_same))
      asked.descriptors.push_back({.fd = first[i].fd, .events = first[i].events, .revents = 0});
  }
}

void were_asked(const pollfd* first, std::size_t count, bool came) {
  const int problem = errno;
  call_under_way& call = this_call;
  asked_here.descriptors = true;
  if (!call.waited) call.beats += turns_in_a_system_call;
  note(first, count);
  network_was_asked(came);
  errno = problem;
}

bool asks_for_a_waiting_call(int timeout) {
  return timeout == 0 && duty_of_networks != when_asked::nothing && this_call.active;
}

int poll_instead(pollfd* of, nfds_t count, int timeout) {
  const int ready = poll(of, count, timeout);
  if (asks_for_a_waiting_call(timeout)) were_asked(of, count, ready > 0);
  return ready;
}

int epoll_wait_instead(int of, epoll_event* events, int most, int timeout) {
  const int ready = epoll_wait(of, events, most, timeout);
  const pollfd as_descriptor{.fd = of, .events = POLLIN, .revents = 0};
  if (asks_for_a_waiting_call(timeout)) were_asked(&as_descriptor, 1, ready > 0);
  return ready;
}

// The MPI library, and what it asks sockets through. The program may use these objects, too: its calls only pass.
bool may_ask(const loaded_object& object) {
  constexpr std::array beginnings{"libmpi", "libopen-", "mca_", "libevent", "libfabric"};
  const char* const name = object.soname();
  const bool is_provider = std::strstr(name, "-fi.so") != nullptr;  // of libfabric
  return is_provider || std::ranges::any_of(beginnings, [name](const char* one) {
           return std::strncmp(name, one, std::strlen(one)) == 0;
         });
}

bool redirected = false;

std::string open() {
  const bool polls = redirect_calls("poll", &poll_instead, may_ask) != nullptr;
  const bool waits = redirect_calls("epoll_wait", &epoll_wait_instead, may_ask) != nullptr;
  redirected = redirected || polls || waits;
  return redirected ? "" : "no part of this MPI library asks sockets by poll or epoll_wait";
}

bool is_used() { return redirected; }

arming arm(std::vector<pollfd>& to) {
  if (!this_call.asks_descriptors || asked.announcement == 0 || asked.announcement != announced_sleep())
    return arming::none;
  to.insert(to.end(), asked.descriptors.begin(), asked.descriptors.end());
  return arming::armed;
}

}  // namespace

extern const network network_of_sockets{nullptr, open, is_used, arm};

}  // namespace lull::mpi
