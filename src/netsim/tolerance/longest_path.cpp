#include "netsim/tolerance/longest_path.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lull::netsim {
namespace {

constexpr double cables_of_nodes = 2;

}  // namespace

longest_path::longest_path(const dependencies& of) : of_(of), ends_(2 * of.steps().size()) {}

// `slower` is added to the sending of a message of the network, `longer`, which gets the time when it has left, to its
// travelling.
template <class Slower, class Longer>
longest_path::end longest_path::pass(Slower slower, Longer longer) {
  const auto later = [](const end& a, const end& b) {
    return a.time < b.time || (a.time == b.time && a.slope < b.slope);
  };
  const auto plus = [](const end& a, const end& b) { return end{a.time + b.time, a.slope + b.slope}; };
  const auto nic_delay = static_cast<double>(of_.nic_delay());
  auto m = of_.messages().begin();
  for (std::size_t i = 0; i < of_.steps().size(); ++i) {
    const dependencies::step& s = of_.steps()[i];
    end here{.time = static_cast<double>(s.offset)};
    if (s.from != nowhere) here = plus(here, ends_[2 * std::size_t{s.from}]);
    if (s.after != dependencies::nothing) here = std::max(here, ends_[s.after], later);
    if (m == of_.messages().end() || m->number != i) {
      ends_[2 * i] = ends_[2 * i + 1] = here;
      continue;
    }
    if (m->by_network) {
      here.time += nic_delay;
      if (m->previous != nowhere) here = std::max(here, ends_[2 * std::size_t{m->previous} + 1], later);
      here = plus(here, slower(*m));
    }
    here.time += static_cast<double>(m->sending);
    ends_[2 * i + 1] = here;
    const end added = m->by_network ? longer(*m, here.time) : end{};
    here.time += static_cast<double>(m->travelling);
    ends_[2 * i] = plus(here, added);
    ++m;
  }
  return of_.ends().empty() ? end{} : ends_[2 * std::size_t{last_of_all()}];
}

run_time longest_path::with(const added_delay& change, double size) {
  const end last = pass(
      [&](const dependencies::message& m) {
        const double added = m.bytes * change.byte;
        return end{size * added, added};
      },
      [&](const dependencies::message& m, double /*left*/) {
        const double added = change.message + cables_of_nodes * change.node_cable +
                             static_cast<double>(m.switch_cables()) * change.switch_cable;
        return end{size * added, added};
      });
  return {last.time, last.slope};
}

run_asleep longest_path::with(const link_policy& policy, const network_parameters& network) {
  struct link {
    picoseconds busy_until = 0;
    picoseconds wakes_from = 0, awake_at = 0;  // the latest wake-up
    link_rest rest;
    bool used = false;
  };
  std::vector<link> links(of_.links());
  link_power power(policy, links.size());
  const picoseconds to_next = network.cable_delay + network.switch_delay;
  const auto cross = [&](const dependencies::message& m, double left) {
    const auto lasts = static_cast<picoseconds>(m.bytes * 1e12 / network.nic_bandwidth);
    picoseconds head = static_cast<picoseconds>(left) - lasts;
    picoseconds delay = 0;
    for (const std::uint32_t number : of_.route_of(m)) {
      link& l = links[number];
      const picoseconds ready = std::max(head, l.busy_until);
      const picoseconds start = power.wake(l.rest, number, l.busy_until, ready, 0).at;
      if (start > ready) {
        l.wakes_from = ready;
        l.awake_at = start;
      }
      // Waiting for other messages is part of its travelling already, waiting until the link is awake is not.
      const picoseconds waits = l.wakes_from <= head && head < l.awake_at ? l.awake_at - head : 0;
      delay += waits;
      head += waits;
      l.busy_until = std::max(l.busy_until, head + lasts);
      l.used = true;
      head += to_next;
    }
    return end{.time = static_cast<double>(delay)};
  };
  run_asleep found{.time = pass([](const dependencies::message& /*m*/) { return end{}; }, cross).time};
  double saved = 0;
  std::size_t used = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    link& l = links[i];
    if (!l.used) continue;
    ++used;
    power.close(l.rest, i, l.busy_until, static_cast<picoseconds>(found.time));
    saved += static_cast<double>(l.rest.deep) * (1 - policy.deep_share) +
             static_cast<double>(l.rest.other) * (1 - policy.fast_share);
  }
  if (used > 0 && found.time > 0) found.saved = saved / (found.time * static_cast<double>(used));
  return found;
}

std::uint32_t longest_path::last_of_all() const {
  return *std::ranges::max_element(of_.ends(), {}, [this](std::uint32_t step) {
    const end& e = ends_[2 * std::size_t{step}];
    return std::pair(e.time, e.slope);
  });
}

const dependencies::message* longest_path::message_of(std::uint32_t step) const {
  const auto found = std::ranges::lower_bound(of_.messages(), step, {}, &dependencies::message::number);
  return found != of_.messages().end() && found->number == step ? &*found : nullptr;
}

void longest_path::add_message(critical_path& to, const dependencies::message& m, bool arrives,
                               const network_parameters& network) const {
  (m.by_network ? to.sending : to.memory) += static_cast<double>(m.sending);
  if (!arrives) return;
  const auto travelling = static_cast<double>(m.travelling);
  if (!m.by_network) {
    ++to.memory_messages;
    to.memory += travelling;
    return;
  }
  const double cables = cables_of_nodes + static_cast<double>(m.switch_cables());
  const double least = static_cast<double>(network.nic_delay) + cables * static_cast<double>(network.cable_delay) +
                       (cables - 1) * static_cast<double>(network.switch_delay);
  ++to.messages;
  to.switch_cables += m.switch_cables();
  to.latency += std::min(least, travelling);
  to.queueing += std::max(travelling - least, 0.0);
}

// Walks back from the end, at each step to what it waited for.
critical_path longest_path::recorded(const network_parameters& network) {
  (void)with({}, 0);
  critical_path found;
  if (of_.ends().empty()) return found;
  dependencies::end_of_step at = 2 * last_of_all();
  while (true) {
    const std::uint32_t number = at / 2;
    const dependencies::step& s = of_.steps()[number];
    double begun = ends_[at].time;
    if (const dependencies::message* m = message_of(number)) {
      add_message(found, *m, at % 2 == 0, network);
      begun = ends_[2 * std::size_t{number} + 1].time - static_cast<double>(m->sending);
      if (m->by_network) {
        const dependencies::end_of_step before = 2 * m->previous + 1;
        if (m->previous != nowhere && ends_[before].time >= begun) {
          at = before;
          continue;
        }
        found.latency += static_cast<double>(network.nic_delay);
        begun -= static_cast<double>(network.nic_delay);
      }
    }
    if (s.after != dependencies::nothing && ends_[s.after].time >= begun) {
      at = s.after;
      continue;
    }
    if (s.from == nowhere) return found;
    found.computing += static_cast<double>(s.offset);
    at = 2 * s.from;
  }
}

}  // namespace lull::netsim
