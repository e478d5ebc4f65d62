#include "service/row.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace lull::service {
namespace {

using json = nlohmann::ordered_json;

constexpr int version = 1;

json energy_by_domain(const account::figures& f) {
  json all = json::object();
  for (const auto covers : {meter::domain::node, meter::domain::package, meter::domain::dram, meter::domain::gpu}) {
    account::energy_figure sum{.channel = {}, .covers = covers, .kind = meter::kind::measured};
    bool is_counted = false;
    for (const account::energy_figure& e : f.energy) {
      if (e.covers != covers) continue;
      is_counted = true;
      sum.kind = std::max(sum.kind, e.kind);
      sum.active_uj += e.active_uj;
      sum.held_uj += e.held_uj;
      sum.overhead_uj += e.overhead_uj;
      sum.low_uj += e.low_uj;
      sum.high_uj += e.high_uj;
    }
    if (!is_counted) continue;
    all[std::string(name_of(covers))] = {{"kind", name_of(sum.kind)},
                                         {"active_uj", sum.active_uj},
                                         {"held_uj", sum.held_uj},
                                         {"overhead_uj", sum.overhead_uj},
                                         {"low_uj", static_cast<std::int64_t>(sum.low_uj)},
                                         {"high_uj", static_cast<std::int64_t>(sum.high_uj)}};
  }
  return all;
}

}  // namespace

std::string row_of(const account::figures& f, const std::string& node, std::int64_t unix_offset_ns) {
  json flags = json::array();
  const std::array<std::pair<bool, const char*>, 4> all{
      {{!f.alone, "shared"}, {f.unsure, "unsure"}, {f.gap, "gap"}, {f.unclosed, "unclosed"}}};
  for (const auto& [holds, name] : all)
    if (holds) flags.push_back(name);
  const auto unix_us = [&](std::int64_t ns) { return (ns + unix_offset_ns) / 1000; };
  const json row{{"v", version},
                 {"cluster", f.opened.cluster},
                 {"job", f.opened.job.empty() ? f.opened.key : f.opened.job},
                 {"restart", std::max<std::int64_t>(f.opened.restart, 0)},
                 {"node", node},
                 {"nodes", f.opened.nodes},
                 {"uid", f.opened.uid},
                 {"project", f.opened.project},
                 {"begin_us", unix_us(f.begin_ns)},
                 {"end_us", unix_us(f.end_ns)},
                 {"cpus", f.opened.holds.cpus},
                 {"memory_mib", f.opened.holds.memory_mib},
                 {"cpu_us", f.cpu_us},
                 {"flags", flags},
                 {"energy", energy_by_domain(f)}};
  return row.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace lull::service
