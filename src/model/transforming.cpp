#include "model/transforming.hpp"

namespace lull::model {

std::size_t largest_coalesced(double puts_in_a_run, const put_costs& seen, std::size_t message_bytes,
                              bool coalesces_now, const transforming_costs& costs) {
  const double fewest = coalesces_now ? costs.fewest_in_a_run_to_go_on : costs.fewest_in_a_run_to_begin;
  if (message_bytes == 0 || puts_in_a_run < fewest) return 0;
  const double spared = seen.ns_per_message * (1 - 1 / puts_in_a_run) - costs.ns_per_coalesced_put;
  const double per_byte = seen.ns_per_copied_byte + seen.ns_per_message / static_cast<double>(message_bytes);
  return spared <= 0 ? 0 : static_cast<std::size_t>(spared / per_byte);
}

bool copying_pays(double ns_waited, std::size_t bytes, const put_costs& seen, bool copies_now,
                  const transforming_costs& costs) {
  const double copy_ns = static_cast<double>(bytes) * seen.ns_per_copied_byte;
  return ns_waited > copy_ns * (copies_now ? 1 : costs.advantage_to_copy);
}

}  // namespace lull::model
