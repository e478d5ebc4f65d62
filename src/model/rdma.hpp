// From which size on a transfer to another node is worth being left to the network (RDMA) instead of being a message.
// Pure functions, the constants are the machine's.
#pragma once
#include <cstddef>

#include "model/machine.hpp"
#include "model/transforming.hpp"

namespace lull::model {

// Bytes of the smallest put that goes by RDMA, where one of them takes `ns_per_operation` besides its bytes. Its bytes
// are copied once instead of twice, and its target may wait for them, which takes a message all the same:
//
//   message(b) = message + 2 · b · copied byte      RDMA(b) = operation + message + b · copied byte
[[nodiscard]] std::size_t least_put_by_rdma(double ns_per_operation, const put_costs& seen,
                                            const rdma_costs& costs = {});

// The same of a get, or of an atomic operation that fetches; as a message it goes there and back. SIZE_MAX: none.
[[nodiscard]] std::size_t least_get_by_rdma(double ns_per_operation, const put_costs& seen);

}  // namespace lull::model
