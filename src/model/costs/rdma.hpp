// From which size on a transfer to another node is worth being left to the network (RDMA) instead of being a message.
// Pure functions, the constants are the machine's.
#pragma once
#include <cstddef>

#include "model/costs/transforming.hpp"
#include "model/machine/machine.hpp"

namespace lull::model {

// What a put or a get costs, where an operation of the network takes `ns_per_operation` besides its bytes. A message is copied
// twice; a target may wait for what is put, which takes a message all the same: `rung`, the share of them that did; a get by
// message goes there and back.
//
//              message                        RDMA
//   put(b)     message + 2 · b · copied byte  operation + rung · message + b · copied byte
//   get(b)     2 · message + b · copied byte  operation + b · copied byte            and an atomic operation that fetches
[[nodiscard]] double ns_of_put_by_message(double bytes, const put_costs& known);
[[nodiscard]] double ns_of_put_by_rdma(double bytes, double ns_per_operation, const put_costs& known, double rung = 1);
[[nodiscard]] double ns_of_get_by_message(double bytes, const put_costs& known);
[[nodiscard]] double ns_of_get_by_rdma(double bytes, double ns_per_operation, const put_costs& known);

// Bytes of the smallest put that goes by RDMA: from there on that costs no more, though all of them ring.
[[nodiscard]] std::size_t least_put_by_rdma(double ns_per_operation, const put_costs& known,
                                            const rdma_costs& costs = {});

// The same of a get; SIZE_MAX: none.
[[nodiscard]] std::size_t least_get_by_rdma(double ns_per_operation, const put_costs& known);

}  // namespace lull::model
