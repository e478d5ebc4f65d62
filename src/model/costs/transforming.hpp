// What it pays to rewrite in a program's puts to another node: small ones coalesced into one message, the source of a
// blocking one copied so that it returns before its bytes have left. Pure functions, the constants are the machine's.
#pragma once
#include <cstddef>

#include "model/machine/machine.hpp"

namespace lull::model {

// What is known of this machine, as corrected by what this job has measured.
struct put_costs {
  double ns_per_message, ns_per_copied_byte;
};

// One message of coalesced puts: its bytes, and those that each put takes beside its own.
struct message_room {
  std::size_t bytes = 0, beside_each = 0;
};

// Bytes of the largest put that is worth being coalesced, where so many follow each other on average; 0: none is. Where n
// of them leave in one message, no more than there are and than it has room for, a put of b bytes spares its message but for a
// share of one, and costs a copy:
//
//   saved(b) = message · (1 - 1/n) - put - b · copied byte
//
// The answer is the largest b where that is not below 0; n is a whole number, and 2 at least. It takes a longer run to begin
// than to go on.
[[nodiscard]] std::size_t largest_coalesced(double puts_in_a_run, const put_costs& seen, const message_room& room,
                                            bool coalesces_now, const transforming_costs& costs = {});

// What a put of so many bytes costs in a message of `puts_in_a_message` of them.
[[nodiscard]] double ns_of_coalesced(double bytes, double puts_in_a_message, const put_costs& seen,
                                     const transforming_costs& costs = {});

}  // namespace lull::model
