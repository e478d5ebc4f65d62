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

double ns_of_coalesced(double bytes, double puts_in_a_message, const put_costs& seen, const transforming_costs& costs) {
  return seen.ns_per_message / puts_in_a_message + costs.ns_per_coalesced_put + bytes * seen.ns_per_copied_byte;
}

}  // namespace lull::model
