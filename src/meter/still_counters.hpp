// Leaves out counters that a machine shows but never moves, such as the platform counter (psys) of a virtual machine.
// Such a counter would give a 0 J that looks measured, and would displace the next source of the same domain.
//
// The check covers counters of node, package and dram that cannot rest (counter_limits). It concerns only those that
// read exactly 0: a counter that starts from boot has moved long before, and one that starts when it is opened (perf)
// has up to 63 ms to move, enough for a platform counter of whole joules at 16 W. It ignores graphics cards, which may
// be suspended.
#pragma once
#include <memory>

#include "meter/source.hpp"

namespace lull::meter {

// Returns the source without the channels whose counters stay at 0, and names them in `left_out` of its description; if
// no channel remains, the source is not readable. A source that is not readable, or whose counters all move, is
// returned unchanged. A failed reading is a gap, so its channel stays.
//
// With `remember`, which is for the sources of this machine, the process waits once for each set of still counters,
// because each repeat of a measurement creates the sources again.
[[nodiscard]] std::unique_ptr<source> without_still_counters(std::unique_ptr<source> made, bool remember = false);

}  // namespace lull::meter
