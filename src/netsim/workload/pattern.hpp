// Traffic patterns: which process sends to which. Each pattern (or family) is one file in workload/; open_loop.hpp and
// closed_loop.hpp decide when messages are created, independent of the pattern.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "netsim/simulation.hpp"
#include "netsim/workload/closed_loop.hpp"
#include "netsim/workload/open_loop.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// A pattern is a plain class with these members. Its constructor takes a job_setup, the pattern's keys and a generator
// for what the job draws once. Ranks are numbers of processes.
// clang-format off
template <class P>
concept traffic_pattern = std::constructible_from<P, const job_setup&, const reader&, generator&> &&
    requires(const P& p, std::uint32_t rank, std::uint32_t iteration, drawing& d) {
  { p.sends(rank) } -> std::same_as<bool>;                                          // open loop: any messages
  { p.next_partner(d) } -> std::same_as<std::uint32_t>;                             // open loop: of next message
  { P::closes } -> std::convertible_to<bool>;                                       // whether it can be a closed loop
  { p.partners(rank, iteration) } -> std::same_as<std::vector<std::uint32_t>>;      // closed loop: taken from the back
  { p.expected_by(rank, iteration) } -> std::same_as<std::uint32_t>;                // closed loop: how many come
};
// clang-format on

// Shared by most patterns.
struct every_process_sends {
  static constexpr bool closes = true;
  [[nodiscard]] static bool sends(std::uint32_t /*rank*/) { return true; }
};

// Any process but the one that draws.
[[nodiscard]] inline std::uint32_t any_other(drawing& d, std::uint32_t size) {
  const std::uint32_t r = d.random.below(size - 1);
  return r < d.rank ? r : r + 1;
}

template <traffic_pattern P>
std::unique_ptr<workload> make_pattern(const job_setup& setup) {
  const job& j = setup.job();
  const bool closed = j.arrivals == arrivals::closed;
  setup.require(!closed || P::closes, "arrivals", "is closed", fmt::format("{} must be open-loop", j.pattern));
  generator random(setup.asked.seed ^ mixed(setup.index + 1));
  P pattern(setup, reader(find_workload(j.pattern).keys, j.own), random);
  if (closed) return std::make_unique<closed_loop<P>>(setup, std::move(pattern));
  return std::make_unique<open_loop<P>>(setup, std::move(pattern), random);
}

template <traffic_pattern P>
workload_entry pattern_entry(const char* name, const char* meaning, const std::vector<key>& keys = {}) {
  return {.name = name, .meaning = meaning, .keys = keys, .make = make_pattern<P>};
}

}  // namespace lull::netsim
