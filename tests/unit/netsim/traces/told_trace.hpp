// A trace defined by a test, call by call, without an archive: times are in nanoseconds.
//
//   told_trace t(2);
//   t.call(0, 100, 200, "MPI_Send", {to(1, 64)});
//   t.call(1, 150, 300, "MPI_Recv", {from(0, 64)});
//   const converted_trace made = t.converted();
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "netsim/traces/conversion.hpp"
#include "netsim/traces/listed_programs.hpp"
#include "trace/functions.hpp"

namespace lull::netsim {

using trace::event;
using trace::happening;

inline event message(happening what, std::int32_t peer, std::uint64_t bytes, std::uint32_t tag, std::uint64_t request) {
  return {.what = what, .communicator = 0, .peer = peer, .tag = tag, .bytes = bytes, .request = request};
}
inline event to(std::int32_t peer, std::uint64_t bytes, std::uint32_t tag = 0) {
  return message(happening::send, peer, bytes, tag, 0);
}
inline event from(std::int32_t peer, std::uint64_t bytes, std::uint32_t tag = 0) {
  return message(happening::receive, peer, bytes, tag, 0);
}
inline event posts_send(std::uint64_t request, std::int32_t peer, std::uint64_t bytes, std::uint32_t tag = 0) {
  return message(happening::isend, peer, bytes, tag, request);
}
inline event has_sent(std::uint64_t request) { return message(happening::isend_complete, -1, 0, 0, request); }
inline event posts_receive(std::uint64_t request) { return message(happening::irecv_request, -1, 0, 0, request); }
inline event has_received(std::uint64_t request, std::int32_t peer, std::uint64_t bytes, std::uint32_t tag = 0) {
  return message(happening::irecv, peer, bytes, tag, request);
}
inline event together(collective operation, std::uint64_t sent = 0, std::uint64_t received = 0, std::int32_t root = -1,
                      std::uint32_t communicator = 0) {
  return {.what = happening::collective_end,
          .operation = operation,
          .communicator = communicator,
          .peer = root,
          .bytes = sent,
          .received = received};
}
inline event posts_together(std::uint64_t request) {
  return message(happening::icollective_request, -1, 0, 0, request);
}
inline event has_joined(std::uint64_t request, collective operation, std::uint64_t bytes = 0,
                        std::uint32_t communicator = 0) {
  event e = together(operation, bytes, bytes, -1, communicator);
  e.what = happening::icollective_complete;
  e.request = request;
  return e;
}
// An access in window 0.
inline event access(happening what, std::int32_t peer, std::uint64_t bytes, std::uint64_t request) {
  return message(what, peer, bytes, 0, request);
}
inline event is_at_target(std::uint64_t request) { return message(happening::one_sided_complete, -1, 0, 0, request); }
inline event fence() {
  return {.what = happening::window_collective_end, .operation = collective::barrier, .communicator = 0};
}

class told_trace {
 public:
  explicit told_trace(std::uint32_t processes, const char* paradigm = "mpi") {
    std::vector<std::uint32_t> members(processes);
    std::iota(members.begin(), members.end(), 0U);
    for (const std::uint32_t p : members) {
      all.processes.push_back({.name = "p", .host = "h", .paradigm = paradigm, .rank = static_cast<int>(p)});
      all.locations.push_back({.name = "t", .process = p});
    }
    all.communicators = {{.name = "world", .members = members, .remote = {}}};
    all.windows = {{.name = "w", .communicator = 0}};
  }

  std::uint32_t region(std::string_view name) {
    const auto found = std::ranges::find(all.regions, name, &trace::definitions::region::name);
    if (found == all.regions.end()) {
      const char* const paradigm = name.starts_with("MPI_") ? "mpi" : name.starts_with("shmem_") ? "shmem" : "user";
      all.regions.push_back(
          {.name = std::string(name), .paradigm = paradigm, .what = trace::role_of_function(paradigm, name)});
      return static_cast<std::uint32_t>(all.regions.size() - 1);
    }
    return static_cast<std::uint32_t>(found - all.regions.begin());
  }
  void tell(std::uint32_t location, std::uint64_t at, event e) {
    e.time_ns = at;
    e.location = location;
    events.push_back(e);
  }
  void enter(std::uint32_t location, std::uint64_t at, std::string_view name) {
    tell(location, at, {.what = happening::enter, .region = region(name)});
  }
  void leave(std::uint32_t location, std::uint64_t at, std::string_view name) {
    tell(location, at, {.what = happening::leave, .region = region(name)});
  }
  // Sends and posts happen at the begin, everything else at the end.
  void call(std::uint32_t location, std::uint64_t begin, std::uint64_t end, std::string_view name,
            const std::vector<event>& inside = {}) {
    const auto at_begin = [](const event& e) {
      return e.what == happening::send || e.what == happening::isend || e.what == happening::irecv_request ||
             e.what == happening::icollective_request || e.what == happening::put || e.what == happening::get ||
             e.what == happening::atomic;
    };
    enter(location, begin, name);
    for (const event& e : inside)
      if (at_begin(e)) tell(location, begin, e);
    for (const event& e : inside)
      if (!at_begin(e)) tell(location, end, e);
    leave(location, end, name);
  }
  // The same call in every process.
  void calls(std::uint64_t begin, std::uint64_t end, std::string_view name, const std::vector<event>& inside = {}) {
    for (std::uint32_t p = 0; p < all.processes.size(); ++p) call(p, begin, end, name, inside);
  }

  converted_trace converted(const std::string& iteration = "") {
    std::ranges::stable_sort(events, {}, &event::time_ns);
    return as_told(iteration);
  }
  // Without sorting events by time.
  [[nodiscard]] converted_trace as_told(const std::string& iteration = "") const {
    conversion made(all, {.asked = "replay the trace x", .iteration = iteration});
    for (const event& e : events) made.on(e);
    return made.finish();
  }
  std::vector<std::string> replayed(std::uint32_t rank) { return texts(converted().operations->of(rank)); }

  trace::definitions all;
  std::vector<event> events;
};

}  // namespace lull::netsim
