#include "account/checkpoint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) { j = value ? json(*value) : json(); }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::optional<T>() : std::optional<T>(j.get<T>());
  }
};

namespace lull::meter {
NLOHMANN_JSON_SERIALIZE_ENUM(domain, {{domain::node, "node"},
                                      {domain::package, "package"},
                                      {domain::dram, "dram"},
                                      {domain::gpu, "gpu"},
                                      {domain::nic, "nic"},
                                      {domain::wire, "wire"}})
NLOHMANN_JSON_SERIALIZE_ENUM(kind, {{kind::measured, "measured"},
                                    {kind::vendor_model, "vendor-model"},
                                    {kind::derived, "derived"},
                                    {kind::estimated, "estimated"},
                                    {kind::simulated, "simulated"}})
}  // namespace lull::meter

namespace lull::account {

using parent = attribution::state::parent;
using counter_state = whole_counter::state;
using node_state = attribution::state;
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(shared_channel, name, covers, kind, low, high, interval_s, most_w)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(resources, cpus, memory_mib, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(idle_power, known_w, least_w, window_uj, window_elapsed_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(opening, key, cluster, job, restart, nodes, uid, project, cgroup, holds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(share, active_uj, held_uj, node_uj, per_idle_watt_uj, missing_uj)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(weights, cpu_us, held)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(account, opened, begin_ns, end_ns, gone_ns, cpu_us, at_us, reported_us,
                                   unsure_less_us, unsure_more_us, seen, unseen_for, alone, gap, unclosed, shares,
                                   waiting)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(parent, base_us, given_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(node_state, node, channels, idle, open, parents, system, unheld, system_waiting,
                                   unheld_waiting, waiting_ns, node_uj, closed_uj, time_ns, node_base_us, node_us,
                                   accounts_us, system_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(counter_state, uj, raw, time_ns, wraps, gaps, resets)

namespace {

constexpr int version = 2;

bool is_consistent(const attribution::state& s) {
  const std::size_t n = s.channels.size();
  const auto fits = [&](const auto& values) { return values.size() == n; };
  return fits(s.idle) && fits(s.system) && fits(s.unheld) && fits(s.system_waiting) && fits(s.unheld_waiting) &&
         fits(s.waiting_ns) && fits(s.node_uj) && fits(s.closed_uj) &&
         std::ranges::all_of(s.open, [&](const auto& one) {
           return one.first == one.second.opened.key && fits(one.second.shares) && fits(one.second.waiting);
         });
}

}  // namespace

std::string text_of(checkpoint c) {
  // Account by account: as one object, hundreds of accounts would need megabytes.
  const std::map<std::string, account> open = std::move(c.accounts.open);
  c.accounts.open.clear();
  std::string text =
      nlohmann::json{{"version", version}, {"boot_id", c.boot_id},   {"unix_offset_ns", c.unix_offset_ns},
                     {"rows", c.rows},     {"accounts", c.accounts}, {"counters", c.counters}}
          .dump();
  std::string accounts;
  for (const auto& [key, one] : open) {
    if (!accounts.empty()) accounts += ',';
    accounts += nlohmann::json(key).dump() + ':' + nlohmann::json(one).dump();
  }
  constexpr std::string_view none = R"("open":{})";  // within a text, its quotes would have a backslash
  return text.insert(text.find(none) + none.size() - 1, accounts);
}

std::optional<checkpoint> checkpoint_in(std::string_view text) try {
  const auto j = nlohmann::json::parse(text);
  if (j.at("version").get<int>() != version) return std::nullopt;
  checkpoint c{.boot_id = j.at("boot_id"),
               .unix_offset_ns = j.at("unix_offset_ns"),
               .rows = j.at("rows"),
               .accounts = j.at("accounts"),
               .counters = j.at("counters")};
  if (!is_consistent(c.accounts)) return std::nullopt;
  return c;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace lull::account
