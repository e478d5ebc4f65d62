#include "wait/cost.hpp"

#include <nlohmann/json.hpp>

namespace lull::wait {

std::string in_json(const cost_of_waiting& cost) {
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const cost_row& row : cost.rows) {
    const wait_counts& c = row.counts;
    rows.push_back({{"operation", row.operation},
                    {"site", row.site},
                    {"up_to_bytes", row.up_to_bytes},
                    {"count", c.operations},
                    {"bytes", c.bytes},
                    {"waits", c.waits},
                    {"waited_s", in_s(c.ns_waited)},
                    {"asleep_s", in_s(c.ns_asleep)},
                    {"cpu_s", in_s(c.ns_cpu)},
                    {"sleeps", c.sleeps},
                    {"timeouts", c.timeouts},
                    {"missed", c.missed}});
  }
  nlohmann::ordered_json all{{"schema", 1},
                             {"policy", cost.policy},
                             {"pes", cost.processes},
                             {"nodes", cost.nodes},
                             {"wall_s", in_s(cost.ns_wall)},
                             {"cpu_s", in_s(cost.ns_cpu)},
                             {"progress_cpu_s", in_s(cost.ns_progress_cpu)},
                             {"frequency_changes", cost.frequency_changes},
                             {"changing_frequency_s", in_s(cost.ns_changing_frequency)},
                             {"rows", rows}};
  if (const auto& r = cost.rewritten)
    all["rewritten"] = {{"coalesced_puts", r->coalesced_puts},
                        {"coalesced_bytes", r->coalesced_bytes},
                        {"messages", r->messages},
                        {"late_messages", r->late_messages},
                        {"copied_puts", r->copied_puts},
                        {"copied_bytes", r->copied_bytes}};
  if (const auto& r = cost.by_rdma)
    all["by_rdma"] = {{"puts", r->puts},           {"put_bytes", r->put_bytes}, {"gets", r->gets},
                      {"got_bytes", r->got_bytes}, {"atomics", r->atomics},     {"rings", r->rings}};
  return all.dump() + "\n";
}

}  // namespace lull::wait
