#include "account/attribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "account/split.hpp"

namespace lull::account {
namespace {

// After this many readings without its cgroup, an account gets no more of what its parent has counted: the first may
// have read the parent before the account ended, and the account's own cgroup after that.
constexpr int readings_after_the_end = 2;

std::int64_t held_weight(const shared_channel& c, const resources& held, const resources& node) {
  if (c.covers != meter::domain::dram || node.memory_mib <= 0) return held.cpus;
  if (held.memory_mib > 0) return held.memory_mib;
  return node.cpus > 0 ? node.memory_mib * held.cpus / node.cpus : 0;
}

bool holds(const account& a, const std::string& channel) {
  return std::ranges::find(a.opened.holds.gpus, channel) != a.opened.holds.gpus.end();
}

double share_of(std::int64_t part, std::int64_t sum) {
  return sum > 0 ? static_cast<double>(part) / static_cast<double>(sum) : 0;
}

// How long the account was open between two times.
std::int64_t open_ns(const account& a, std::int64_t from_ns, std::int64_t to_ns) {
  return std::max<std::int64_t>(std::min(to_ns, a.end_ns.value_or(to_ns)) - std::max(from_ns, a.begin_ns), 0);
}

// Of what was counted in `all_ns`, the part of `ns`.
std::int64_t part_of(std::int64_t uj, std::int64_t ns, std::int64_t all_ns) {
  if (ns >= all_ns) return uj;
  return std::llround(static_cast<double>(uj) * static_cast<double>(ns) / static_cast<double>(all_ns));
}

energy_figure figure_of(const account& a, const shared_channel& c, const share& s, const idle_power& idle,
                        std::int64_t end_ns) {
  const bool whole = a.alone || (c.covers == meter::domain::gpu && s.uj() == s.node_uj);
  energy_figure f{.channel = c.name,
                  .covers = c.covers,
                  .kind = whole ? c.kind : std::max(c.kind, meter::kind::derived),
                  .active_uj = s.active_uj,
                  .held_uj = s.held_uj,
                  .overhead_uj = a.alone ? std::max<std::int64_t>(s.node_uj - s.uj(), 0) : 0};
  const auto middle = static_cast<double>(f.uj());
  double less = 0, more = s.missing_uj;
  if (!whole) {
    const std::array ends{s.per_idle_watt_uj * (idle.low_w() - idle.used_w()),
                          s.per_idle_watt_uj * (idle.high_w() - idle.used_w())};
    less -= std::min({ends[0], ends[1], 0.0});
    more += std::max({ends[0], ends[1], 0.0});
    const double per_us = a.cpu_us > 0 ? static_cast<double>(s.active_uj) / static_cast<double>(a.cpu_us) : 0;
    less += per_us * static_cast<double>(a.unsure_less_us);
    more += per_us * static_cast<double>(a.unsure_more_us);
  }
  const double seconds = static_cast<double>(end_ns - a.begin_ns) * 1e-9;
  const bool read_off = c.kind == meter::kind::measured || c.kind == meter::kind::vendor_model;
  const double edge = read_off && seconds > 0 ? std::min(1.0, 2 * c.interval_s / seconds) * middle : 0;
  f.low_uj = std::clamp(middle * c.low - less - edge, 0.0, middle);
  f.high_uj = std::max(middle, middle * c.high + more + edge);
  return f;
}

}  // namespace

shared_channel shared(const meter::channel& c) {
  const auto relative = [&](double meter::band::*bound) {
    const double middle = c.joules_per_unit.mid != 0 ? c.joules_per_unit.mid : c.watts.mid;
    const double at = c.joules_per_unit.mid != 0 ? c.joules_per_unit.*bound : c.watts.*bound;
    return middle > 0 ? at / middle : 1;
  };
  return {.name = c.name,
          .covers = c.covers,
          .kind = c.kind,
          .low = relative(&meter::band::low),
          .high = relative(&meter::band::high),
          .interval_s = c.interval.value(),
          .most_w = c.limits.max_per_second * c.joules_per_unit.high};
}

std::string parent_of(const std::string& cgroup) {
  const auto slash = cgroup.rfind('/');
  return slash == std::string::npos ? std::string() : cgroup.substr(0, slash);
}

attribution::attribution(resources node, std::vector<shared_channel> channels, std::int64_t time_ns) {
  const std::size_t n = channels.size();
  state_ = {.node = std::move(node),
            .channels = std::move(channels),
            .idle = std::vector<idle_power>(n),
            .open = {},
            .parents = {},
            .system = std::vector<share>(n),
            .unheld = std::vector<share>(n),
            .system_waiting = std::vector<weights>(n),
            .unheld_waiting = std::vector<weights>(n),
            .waiting_ns = std::vector<std::int64_t>(n),
            .node_uj = std::vector<std::int64_t>(n),
            .closed_uj = std::vector<std::int64_t>(n),
            .time_ns = time_ns,
            .node_base_us = {},
            .node_us = 0,
            .accounts_us = 0,
            .system_us = 0};
}

attribution::attribution(resources node, std::vector<shared_channel> channels, state earlier)
    : state_(std::move(earlier)) {
  state_.node = std::move(node);
  std::vector<shared_channel> all = std::move(channels);
  std::vector<std::size_t> from;  // its place in the earlier state
  const auto place = [&](const std::string& name) {
    const auto at = std::ranges::find(state_.channels, name, &shared_channel::name);
    return static_cast<std::size_t>(at - state_.channels.begin());
  };
  from.reserve(all.size() + state_.channels.size());
  for (const shared_channel& c : all) from.push_back(place(c.name));
  for (const shared_channel& c : state_.channels)
    if (std::ranges::find(all, c.name, &shared_channel::name) == all.end()) {
      all.push_back(c);
      from.push_back(place(c.name));
    }
  const auto reorder = [&](auto& values) {
    std::remove_reference_t<decltype(values)> moved(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (from[i] < values.size()) moved[i] = values[from[i]];
    values = std::move(moved);
  };
  for (auto* values : {&state_.system, &state_.unheld}) reorder(*values);
  for (auto* values : {&state_.system_waiting, &state_.unheld_waiting}) reorder(*values);
  for (auto* values : {&state_.waiting_ns, &state_.node_uj, &state_.closed_uj}) reorder(*values);
  reorder(state_.idle);
  for (idle_power& idle : state_.idle) idle.known_w.reset();
  for (auto& [key, a] : state_.open) {
    reorder(a.shares);
    reorder(a.waiting);
  }
  state_.channels = std::move(all);
}

void attribution::set_idle_power(std::string_view channel, double watts) {
  for (std::size_t c = 0; c < state_.channels.size(); ++c)
    if (state_.channels[c].name == channel) state_.idle[c].known_w = watts;
}

std::vector<std::string> attribution::cgroups() const {
  std::vector<std::string> paths;
  for (const auto& [path, parent] : state_.parents) paths.push_back(path);
  for (const auto& [key, a] : state_.open)
    if (!a.opened.cgroup.empty()) paths.push_back(a.opened.cgroup);
  return paths;
}

bool attribution::open(const opening& what, std::optional<std::int64_t> usage_us, std::optional<std::int64_t> parent_us,
                       std::int64_t time_ns) {
  if (state_.open.contains(what.key)) return false;
  account a;
  a.opened = what;
  a.begin_ns = time_ns;
  a.at_us = usage_us.value_or(0);
  a.seen = usage_us.has_value();
  for (auto& [key, other] : state_.open)
    if (!other.end_ns || *other.end_ns > time_ns) a.alone = other.alone = false;
  a.shares.resize(state_.channels.size());
  a.waiting.resize(state_.channels.size());
  if (const std::string parent = parent_of(what.cgroup); !parent.empty() && parent_us)
    state_.parents.try_emplace(parent, state::parent{.base_us = *parent_us, .given_us = 0});
  state_.open.emplace(what.key, std::move(a));
  return true;
}

void attribution::complete(const opening& more, std::optional<std::int64_t> usage_us,
                           std::optional<std::int64_t> parent_us) {
  const auto found = state_.open.find(more.key);
  if (found == state_.open.end()) return;
  opening& o = found->second.opened;
  if (o.cgroup.empty() && !more.cgroup.empty()) {
    o.cgroup = more.cgroup;
    found->second.seen = usage_us.has_value();
    if (const std::string parent = parent_of(o.cgroup); !parent.empty() && parent_us)
      state_.parents.try_emplace(parent, state::parent{.base_us = *parent_us - usage_us.value_or(0), .given_us = 0});
  }
  for (auto text : {&opening::cluster, &opening::job, &opening::project})
    if ((o.*text).empty()) o.*text = more.*text;
  if (o.restart < 0) o.restart = more.restart;
  if (o.nodes == 0) o.nodes = more.nodes;
  if (o.holds.cpus == 0) o.holds.cpus = more.holds.cpus;
  if (o.holds.memory_mib == 0) o.holds.memory_mib = more.holds.memory_mib;
  if (o.holds.gpus.empty()) o.holds.gpus = more.holds.gpus;
}

bool attribution::report_cpu(const std::string& key, std::int64_t usage_us) {
  const auto found = state_.open.find(key);
  if (found == state_.open.end()) return false;
  found->second.reported_us = std::max(found->second.reported_us, usage_us);
  return true;
}

bool attribution::end(const std::string& key, std::int64_t time_ns) {
  const auto found = state_.open.find(key);
  if (found == state_.open.end()) return false;
  found->second.end_ns = std::max({time_ns, found->second.begin_ns, state_.time_ns});
  return true;
}

void attribution::set_unclosed(const std::string& key) {
  if (const auto found = state_.open.find(key); found != state_.open.end()) found->second.unclosed = true;
}

void attribution::count_cpu_time(const observation& seen, std::int64_t passed_ns) {
  const std::int64_t passed_us = passed_ns / 1000;
  std::int64_t of_accounts = 0;
  std::map<const account*, std::int64_t> before;
  for (auto& [key, a] : state_.open) {
    before[&a] = a.cpu_us;
    const auto found = seen.cpu_us.find(a.opened.cgroup);
    std::int64_t usage = a.reported_us;
    if (found != seen.cpu_us.end()) {
      usage = std::max(usage, found->second);
      a.seen = true;
      a.unseen_for = 0;
      a.gone_ns.reset();
    } else if (a.seen || a.reported_us > 0) {
      ++a.unseen_for;
      if (!a.gone_ns) a.gone_ns = seen.time_ns;
    }
    const std::int64_t used = std::max<std::int64_t>(usage - a.at_us, 0);
    a.at_us += used;
    a.cpu_us += used;
    if (const auto parent = state_.parents.find(parent_of(a.opened.cgroup)); parent != state_.parents.end())
      parent->second.given_us += used;
  }
  give_remainders(seen);
  for (const auto& [key, a] : state_.open) of_accounts += a.cpu_us - before[&a];

  state_.accounts_us += of_accounts;
  const std::int64_t system_us = seen.node_cpu_us ? used_by_system(*seen.node_cpu_us) : 0;

  for (std::size_t c = 0; c < state_.channels.size(); ++c) {
    const shared_channel& channel = state_.channels[c];
    std::int64_t held = 0;
    for (auto& [key, a] : state_.open) {
      const std::int64_t weight = held_weight(channel, a.opened.holds, state_.node) *
                                  (open_ns(a, state_.time_ns - passed_ns, state_.time_ns) / 1000);
      a.waiting[c].cpu_us += a.cpu_us - before[&a];
      a.waiting[c].held += weight;
      held += weight;
    }
    const std::int64_t there = held_weight(channel, state_.node, state_.node);
    state_.system_waiting[c].cpu_us += system_us;
    state_.unheld_waiting[c].held += std::max<std::int64_t>(there * passed_us - held, 0);
    state_.waiting_ns[c] += passed_ns;
  }
}

std::int64_t attribution::used_by_system(std::int64_t node_us) {
  if (!state_.node_base_us) state_.node_base_us = node_us - state_.accounts_us - state_.system_us;
  if (node_us < state_.node_us) *state_.node_base_us -= state_.node_us - node_us;  // a CPU was removed
  state_.node_us = node_us;
  const std::int64_t rest = node_us - *state_.node_base_us - state_.accounts_us - state_.system_us;
  if (rest <= 0) return 0;
  state_.system_us += rest;
  return rest;
}

void attribution::give_remainders(const observation& seen) {
  for (auto& [path, parent] : state_.parents) {
    const auto found = seen.cpu_us.find(path);
    if (found == seen.cpu_us.end()) continue;
    const std::int64_t rest = found->second - parent.base_us - parent.given_us;
    if (rest <= 0) continue;
    std::vector<account*> ended;
    std::vector<std::int64_t> by_cpus;
    for (auto& [key, a] : state_.open)
      if (a.unseen_for > 0 && a.unseen_for <= readings_after_the_end && parent_of(a.opened.cgroup) == path) {
        ended.push_back(&a);
        by_cpus.push_back(std::max<std::int64_t>(a.opened.holds.cpus, 1));
      }
    if (ended.empty()) {
      parent.base_us += rest;  // of others in this folder
      continue;
    }
    const std::vector<std::int64_t> parts = split(rest, by_cpus);
    for (std::size_t i = 0; i < ended.size(); ++i) {
      ended[i]->cpu_us += parts[i];
      if (ended.size() == 1) continue;
      ended[i]->unsure_less_us += parts[i];
      ended[i]->unsure_more_us += rest - parts[i];
    }
    parent.given_us += rest;
  }
}

void attribution::add(const observation& seen) {
  const std::int64_t passed_ns = std::max<std::int64_t>(seen.time_ns - state_.time_ns, 0);
  state_.time_ns += passed_ns;
  count_cpu_time(seen, passed_ns);
  for (std::size_t c = 0; c < seen.channels.size(); ++c) {
    const observation::energy& e = seen.channels[c];
    if (e.lost) {
      state_.idle[c].forget_window();
      for (auto& [key, a] : state_.open) {
        a.gap = true;
        a.shares[c].missing_uj += e.missing_uj;
      }
    }
    if (e.uj <= 0) continue;
    state_.node_uj[c] += e.uj;
    for (auto& [key, a] : state_.open)
      a.shares[c].node_uj +=
          part_of(e.uj, open_ns(a, state_.time_ns - state_.waiting_ns[c], state_.time_ns), state_.waiting_ns[c]);
    if (state_.channels[c].covers == meter::domain::gpu)
      divide_gpu(c, e.uj);
    else
      divide(c, e.uj);
    for (auto& [key, a] : state_.open) a.waiting[c] = {};
    state_.system_waiting[c] = state_.unheld_waiting[c] = {};
    state_.waiting_ns[c] = 0;
  }
}

void attribution::divide(std::size_t channel, std::int64_t uj) {
  std::vector<std::int64_t> by_cpu, by_held;
  std::int64_t cpu_us = 0, held = 0;
  const auto note = [&](const weights& w) {
    by_cpu.push_back(w.cpu_us);
    by_held.push_back(w.held);
    cpu_us += w.cpu_us;
    held += w.held;
  };
  for (const auto& [key, a] : state_.open) note(a.waiting[channel]);
  note({.cpu_us = state_.system_waiting[channel].cpu_us, .held = state_.unheld_waiting[channel].held});

  idle_power& idle = state_.idle[channel];
  const double seconds = static_cast<double>(state_.waiting_ns[channel]) * 1e-9;
  std::int64_t idle_uj = std::min(uj, static_cast<std::int64_t>(std::llround(idle.used_w() * seconds * 1e6)));
  if (cpu_us == 0) idle_uj = uj;  // nothing ran, as far as is known
  const std::vector<std::int64_t> active = split(uj - idle_uj, by_cpu);
  std::vector<std::int64_t> kept = split(idle_uj, by_held);
  if (held == 0) kept.back() = idle_uj;
  std::size_t i = 0;
  for (auto& [key, a] : state_.open) {
    share& s = a.shares[channel];
    s.active_uj += active[i];
    s.held_uj += kept[i];
    if (cpu_us > 0) s.per_idle_watt_uj += seconds * 1e6 * (share_of(by_held[i], held) - share_of(by_cpu[i], cpu_us));
    ++i;
  }
  state_.system[channel].active_uj += active.back();
  state_.unheld[channel].held_uj += kept.back();
  idle.add(uj, state_.waiting_ns[channel]);
}

void attribution::divide_gpu(std::size_t channel, std::int64_t uj) {
  std::vector<std::int64_t> holders;
  const std::int64_t since_ns = state_.time_ns - state_.waiting_ns[channel];
  for (const auto& [key, a] : state_.open)
    holders.push_back(holds(a, state_.channels[channel].name)
                          ? std::max<std::int64_t>(open_ns(a, since_ns, state_.time_ns) / 1000, 1)
                          : 0);
  const std::vector<std::int64_t> parts = split(uj, holders);
  std::int64_t given = 0;
  std::size_t i = 0;
  for (auto& [key, a] : state_.open) {
    a.shares[channel].active_uj += parts[i];
    given += parts[i++];
  }
  state_.unheld[channel].held_uj += uj - given;
}

std::optional<figures> attribution::of(const std::string& key) const {
  const auto found = state_.open.find(key);
  if (found == state_.open.end()) return std::nullopt;
  const account& a = found->second;
  figures result{.opened = a.opened,
                 .begin_ns = a.begin_ns,
                 .end_ns = a.end_ns.value_or(state_.time_ns),
                 .cpu_us = a.cpu_us,
                 .alone = a.alone,
                 .unsure = a.unsure_more_us > 0,
                 .gap = a.gap,
                 .unclosed = a.unclosed,
                 .energy = {}};
  for (std::size_t c = 0; c < state_.channels.size(); ++c)
    result.energy.push_back(figure_of(a, state_.channels[c], a.shares[c], state_.idle[c], result.end_ns));
  return result;
}

std::optional<figures> attribution::close(const std::string& key) {
  const auto found = state_.open.find(key);
  if (found == state_.open.end()) return std::nullopt;
  account& a = found->second;
  for (std::size_t c = 0; c < state_.channels.size(); ++c) {
    state_.system_waiting[c].cpu_us += a.waiting[c].cpu_us;
    state_.unheld_waiting[c].held += a.waiting[c].held;
    state_.closed_uj[c] += a.shares[c].uj();
    // A channel that has not moved for longer than it should will count energy of this account's time later.
    const shared_channel& channel = state_.channels[c];
    const double since_s = static_cast<double>(state_.waiting_ns[c]) * 1e-9;
    if (since_s <= 2 * channel.interval_s || channel.covers == meter::domain::gpu) continue;
    a.gap = true;
    a.shares[c].missing_uj += channel.most_w * 1e6 * since_s;
  }
  std::optional<figures> result = of(key);
  const std::string parent = parent_of(a.opened.cgroup);
  state_.open.erase(found);
  const auto same = [&](const auto& one) { return parent_of(one.second.opened.cgroup) == parent; };
  if (std::ranges::none_of(state_.open, same)) state_.parents.erase(parent);
  return result;
}

}  // namespace lull::account
