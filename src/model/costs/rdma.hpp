// From which size on the network should execute a transfer to another node by itself (RDMA), instead of a message. Pure
// functions of the machine's constants.
#pragma once
#include <cstddef>

#include "model/costs/transforming.hpp"
#include "model/machine/machine.hpp"

namespace lull::model {

// The cost of a put or a get, where an operation of the network takes `ns_per_operation` in addition to its bytes. A
// message is copied twice. A target may wait for a put, which then takes a message in any case (`rung`: the share of
// such puts). A get by message goes there and back.
//
//              message                        RDMA
//   put(b)     message + 2 · b · copied byte  operation + rung · message + b · copied byte
//   get(b)     2 · message + b · copied byte  operation + b · copied byte            also a fetching atomic
[[nodiscard]] double ns_of_put_by_message(double bytes, const put_costs& known);
[[nodiscard]] double ns_of_put_by_rdma(double bytes, double ns_per_operation, const put_costs& known, double rung = 1);
[[nodiscard]] double ns_of_get_by_message(double bytes, const put_costs& known);
[[nodiscard]] double ns_of_get_by_rdma(double bytes, double ns_per_operation, const put_costs& known);

// Bytes of the smallest put that uses RDMA: from this size on RDMA costs no more, even if every put needs a message.
[[nodiscard]] std::size_t least_put_by_rdma(double ns_per_operation, const put_costs& known,
                                            const rdma_costs& costs = {});

// The same for a get; SIZE_MAX: none.
[[nodiscard]] std::size_t least_get_by_rdma(double ns_per_operation, const put_costs& known);

}  // namespace lull::model
