#include "model/costs/transforming.hpp"

#include <algorithm>

namespace lull::model {

std::size_t largest_coalesced(double puts_in_a_run, const put_costs& seen, const message_room& room, bool coalesces_now,
                              const transforming_costs& costs) {
  const double fewest = coalesces_now ? costs.fewest_in_a_run_to_go_on : costs.fewest_in_a_run_to_begin;
  if (puts_in_a_run < fewest) return 0;
  std::size_t best = 0;
  for (std::size_t count = 2; room.bytes / count > room.beside_each + best; ++count) {
    const double in_one = std::min(puts_in_a_run, static_cast<double>(count));
    const double spared = seen.ns_per_message * (1 - 1 / in_one) - costs.ns_per_coalesced_put;
    const std::size_t fits = room.bytes / count - room.beside_each;
    const double pays = std::min(spared / seen.ns_per_copied_byte, static_cast<double>(fits));
    if (spared > 0) best = std::max(best, static_cast<std::size_t>(pays));
    if (static_cast<double>(count) >= puts_in_a_run) break;  // a message never has more
  }
  return best;
}

double ns_of_coalesced(double bytes, double puts_in_a_message, const put_costs& seen, const transforming_costs& costs) {
  return seen.ns_per_message / puts_in_a_message + costs.ns_per_coalesced_put + bytes * seen.ns_per_copied_byte;
}

}  // namespace lull::model
