// The cost of a wait under a wait policy, interpolated from measurements at some lengths: pure functions.
//
// Between two lengths, wake-up latency and CPU time are interpolated in their logarithms. Beyond the ends they keep the
// values at the end, except that a CPU time that is most of the longest wait is the same share of a longer one: such a
// policy polls.
#pragma once
#include <span>

#include "model/choices/choice.hpp"

namespace lull::model {

struct measured_wait {
  double length_ns = 0;
  interval late_ns, cpu_ns;
};

struct wait_price {
  interval late_ns, cpu_ns;
};

// `measured` is ascending in length and not empty.
[[nodiscard]] wait_price price_of_wait(std::span<const measured_wait> measured, double length_ns);

// Similar waits of all processes together.
struct seen_waits {
  double waits = 0, waited_ns = 0;
};

// How another policy changes the cost of a run. Each process is later by at most the sum of its waits, and at least by
// nothing: others may wait as long anyway. CPU time costs `watts_of_core`, time `idle_watts` of each of the run's
// nodes.
struct wait_circumstances {
  double processes = 1, nodes = 1;
  interval idle_watts, watts_of_core;
};
[[nodiscard]] cost change_of_policy(std::span<const seen_waits> seen, std::span<const measured_wait> present,
                                    std::span<const measured_wait> other, const wait_circumstances& where);

}  // namespace lull::model
