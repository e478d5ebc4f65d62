#include "model/rdma.hpp"

#include <algorithm>
#include <limits>

namespace lull::model {

std::size_t least_put_by_rdma(double ns_per_operation, const put_costs& seen, const rdma_costs& costs) {
  const double bytes = ns_per_operation / std::max(seen.ns_per_copied_byte, costs.least_ns_per_copied_byte);
  return std::max(static_cast<std::size_t>(bytes), costs.smallest_put_bytes);
}

std::size_t least_get_by_rdma(double ns_per_operation, const put_costs& seen) {
  return ns_per_operation < 2 * seen.ns_per_message ? 0 : std::numeric_limits<std::size_t>::max();
}

}  // namespace lull::model
