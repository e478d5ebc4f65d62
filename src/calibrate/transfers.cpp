#include <shmem.h>
#include <shmemx.h>

#include <optional>

#include "calibrate/parts.hpp"
#include "calibrate/shmem_link.hpp"

namespace lull::calibrate {
namespace {

constexpr int few_atomics = 200, many_atomics = 5000;

// The first PE other than PE 0 that is on its node, or is not.
std::optional<int> first_partner(bool same_node) {
  for (int pe = 1; pe < shmem_n_pes(); ++pe)
    if ((shmemx_node_of(pe) == shmemx_node_of(0)) == same_node) return pe;
  return std::nullopt;
}

nlohmann::json as_json(const std::vector<model::transfer_observation>& round) {
  nlohmann::json sizes = nlohmann::json::array();
  for (const model::transfer_observation& one : round)
    sizes.push_back({{"bytes", one.bytes},
                     {"one_way_ns", one.one_way_ns},
                     {"send_ns", one.send_ns},
                     {"receive_ns", one.receive_ns},
                     {"gap_ns", one.gap_ns}});
  return sizes;
}

}  // namespace

nlohmann::json transfers(const transfers_wanted& wanted) {
  nlohmann::json found = {{"rounds", nlohmann::json::array()}, {"nodes", shmemx_n_nodes()}};
  const std::optional<int> partner = first_partner(!wanted.between_nodes);
  if (!partner) return found;
  shmem_link link(*partner, wanted.largest);
  if (shmem_my_pe() == *partner) {
    link.serve();
  } else if (shmem_my_pe() != 0) {
    link.stand_by();
  } else {
    const std::vector<std::size_t> sizes = sizes_up_to(wanted.largest);
    const auto observe = wanted.receiver ? observe_receiver : observe_times;
    (void)observe(link, {sizes.front(), sizes.back()}, {.ns_per_figure = 0});  // sets up connections and pages
    for (int round = 0; round < wanted.rounds; ++round) {
      found["rounds"].push_back(as_json(observe(link, sizes, {})));
      if (wanted.receiver) continue;
      found["fetching_ns"].push_back(link.fetching_ns(few_atomics));
      found["non_fetching_ns"].push_back(link.non_fetching_ns(many_atomics));
    }
  }
  return found;
}

}  // namespace lull::calibrate
