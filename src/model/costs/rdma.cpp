#include "model/costs/rdma.hpp"

#include <algorithm>
#include <limits>

namespace lull::model {

double ns_of_put_by_message(double bytes, const put_costs& known) {
  return known.ns_per_message + 2 * bytes * known.ns_per_copied_byte;
}

double ns_of_put_by_rdma(double bytes, double ns_per_operation, const put_costs& known, double rung) {
  return ns_per_operation + rung * known.ns_per_message + bytes * known.ns_per_copied_byte;
}

double ns_of_get_by_message(double bytes, const put_costs& known) {
  return 2 * known.ns_per_message + bytes * known.ns_per_copied_byte;
}

double ns_of_get_by_rdma(double bytes, double ns_per_operation, const put_costs& known) {
  return ns_per_operation + bytes * known.ns_per_copied_byte;
}

std::size_t least_put_by_rdma(double ns_per_operation, const put_costs& known, const rdma_costs& costs) {
  const double bytes = ns_per_operation / std::max(known.ns_per_copied_byte, costs.least_ns_per_copied_byte);
  return std::max(static_cast<std::size_t>(bytes), costs.smallest_put_bytes);
}

std::size_t least_get_by_rdma(double ns_per_operation, const put_costs& known) {
  return ns_per_operation < 2 * known.ns_per_message ? 0 : std::numeric_limits<std::size_t>::max();
}

}  // namespace lull::model
