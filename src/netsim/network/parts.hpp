// A network divided among threads: which switch belongs to which part, and what parts send each other; turns.hpp keeps
// them in step.
//
// Each thread simulates a *part*: some logical processes, with a queue, pools and counters of its own. All parts handle
// the same window at the same time. What happens in a window has an effect on other logical processes in a later one, so
// what one part causes in another, the arrival of a packet or the return of a credit, is posted to a mailbox, which the
// other reads when all have finished the window. The order of events at a logical process is the same wherever they
// come from (windows.hpp), so the result does not depend on the number of parts.
#pragma once
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "netsim/network/network_state.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

inline constexpr unsigned most_parts = 128;

// From one part to another, in one window. The writer clears it, so that the reader only reads.
struct alignas(128) mailbox {
  struct alignas(64) arrival {  // one line of memory
    route_state path;
    std::uint32_t message;
    picoseconds at;
    picoseconds tail;
    picoseconds first_bit;
    std::int32_t bytes;
    std::uint32_t lp;
    link_id in;
    std::uint16_t hops;
    std::uint8_t channel;
    bool started;
  };
  static_assert(sizeof(arrival) == 64);
  struct credit {
    picoseconds at;
    link_id in;
    std::uint32_t what;  // as in input_port
  };
  large_vector<arrival> arrivals;
  std::vector<credit> credits;
  std::vector<std::uint32_t> messages;  // numbers that return to the part that made them
  void clear() {
    arrivals.clear();
    credits.clear();
    messages.clear();
  }
};

// The cores that the calling thread may use.
[[nodiscard]] inline cpu_set_t allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  return allowed;
}

// Keeps the thread of a part on a core of its own while it exists, if the process may use exactly as many cores as there
// are parts. If it may use more, other simulations may run beside it, and the kernel finds free cores.
class own_core {
 public:
  own_core(unsigned part, unsigned parts) : before_(allowed_cores()) {
    if (parts == 1 || static_cast<unsigned>(CPU_COUNT(&before_)) != parts) return;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &before_) && part-- == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
        return;
      }
  }
  own_core(const own_core&) = delete;
  own_core& operator=(const own_core&) = delete;
  ~own_core() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  bool pinned_ = false;
};

// The part of each switch. Switches with nodes are divided in order of number, by their ports; each other switch joins
// the part to which most of its cables lead, unless that part has more than its share.
template <topology_shape T>
std::vector<std::uint8_t> divide(const T& topology, unsigned parts) {
  constexpr std::uint8_t none = 255;
  const std::uint32_t switches = topology.switches();
  std::vector<std::uint8_t> part_of(switches, none);
  std::vector<bool> has_nodes(switches);
  for (std::uint32_t node = 0; node < topology.nodes(); ++node) has_nodes[topology.attach_point(node).id] = true;
  std::uint64_t ports = 0, ports_with_nodes = 0;
  for (std::uint32_t s = 0; s < switches; ++s) {
    ports += topology.ports(s);
    if (has_nodes[s]) ports_with_nodes += topology.ports(s);
  }
  std::vector<std::uint64_t> load(parts);
  const auto assign = [&](std::uint32_t s, std::uint64_t part) {
    part_of[s] = static_cast<std::uint8_t>(part);
    load[part] += topology.ports(s);
  };
  std::uint64_t before = 0;
  for (std::uint32_t s = 0; s < switches; ++s) {
    if (!has_nodes[s]) continue;
    assign(s, before * parts / ports_with_nodes);
    before += topology.ports(s);
  }
  // In passes, since a switch may have neighbours without a part at first.
  for (bool progress = true; progress;) {
    progress = false;
    for (std::uint32_t s = 0; s < switches; ++s) {
      if (part_of[s] != none) continue;
      std::vector<std::uint64_t> cables(parts);
      for (unsigned p = 0; p < topology.ports(s); ++p)
        if (const endpoint other = topology.peer(s, p); !other.node && part_of[other.id] != none)
          ++cables[part_of[other.id]];
      if (std::ranges::max(cables) == 0) continue;
      const auto is_full = [&](unsigned part) { return load[part] * parts > ports + ports / 50; };
      unsigned best = 0;
      for (unsigned part = 1; part < parts; ++part) {
        const bool better = cables[part] != cables[best] ? cables[part] > cables[best] : load[part] < load[best];
        if (is_full(part) != is_full(best) ? is_full(best) : better) best = part;
      }
      assign(s, best);
      progress = true;
    }
  }
  std::ranges::replace(part_of, none, std::uint8_t{0});
  return part_of;
}

}  // namespace lull::netsim
