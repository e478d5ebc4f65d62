// When to transform a program's puts to other nodes: coalesce small ones into one message, or copy the source of a
// blocking one so that it returns before its bytes have left. Pure functions of the machine's constants.
#pragma once
#include <cstddef>

#include "model/machine/machine.hpp"

namespace lull::model {

// Costs on this machine, as corrected by this job's measurements.
struct put_costs {
  double ns_per_message, ns_per_copied_byte;
};

// A message of coalesced puts: its bytes, and the bytes that each put takes in addition to its own.
struct message_room {
  std::size_t bytes = 0, beside_each = 0;
};

// Bytes of the largest put that is worth coalescing, for runs of this mean length; 0: none. If n of them share a
// message, at most as many as there are and as fit, a put of b bytes saves its message except for a share of one, and
// costs a copy:
//
//   saved(b) = message · (1 - 1/n) - put - b · copied byte
//
// The result is the largest b for which that is not negative; n is an integer of at least 2. Coalescing needs longer
// runs to start than to continue.
[[nodiscard]] std::size_t largest_coalesced(double puts_in_a_run, const put_costs& seen, const message_room& room,
                                            bool coalesces_now, const transforming_costs& costs = {});

// The cost of a put of this size in a message of `puts_in_a_message` puts.
[[nodiscard]] double ns_of_coalesced(double bytes, double puts_in_a_message, const put_costs& seen,
                                     const transforming_costs& costs = {});

}  // namespace lull::model
