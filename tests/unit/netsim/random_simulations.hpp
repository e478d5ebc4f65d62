// Small random simulations over topologies, routing, power modes, traffic and buffers, each determined by its seed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "netsim/instances.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

template <class T>
[[nodiscard]] const T& one_of(const std::vector<T>& choices, generator& random) {
  return choices[random.below(static_cast<std::uint32_t>(choices.size()))];
}

[[nodiscard]] inline std::uint32_t nodes_of(const simulation& s) {
  return find_topology(s.topology).build(s.parameters)->nodes();
}

[[nodiscard]] inline job some_job(std::vector<std::uint32_t> nodes, generator& random) {
  job j;
  j.name = "job";
  const auto processes = static_cast<std::uint32_t>(nodes.size());
  j.nodes = std::move(nodes);
  std::vector<std::string> patterns;
  for (const workload_entry& w : all_workloads())
    if (!w.is_program) patterns.emplace_back(w.name);
  j.pattern = one_of(patterns, random);
  j.arrivals = static_cast<arrivals>(random.below(4));
  if (j.pattern == "hot-spot" && j.arrivals == arrivals::closed) j.arrivals = arrivals::poisson;
  j.load = one_of<double>({0.05, 0.4, 0.9, 1.0}, random);
  j.message = one_of<std::int64_t>({1, 100, 4096, 5000, 20'000}, random);
  j.messages = 1 + random.below(15);
  j.start = random.below(3) * 1'000'000;
  j.burst = 5'000'000;
  j.iterations = 1 + random.below(4);
  j.compute = random.below(5'000'000);
  j.own["targets"] = 1 + random.below(std::min(processes - 1, 3U));
  return j;
}

// A small random simulation, determined by the seed.
[[nodiscard]] inline simulation some_simulation(std::uint64_t seed) {
  static const std::vector<instance> networks = small_instances();
  generator random(seed);
  simulation s;
  s.seed = random();
  const instance& network = networks[seed % networks.size()];
  s.topology = network.topology;
  s.parameters = network.parameters;
  network_parameters& n = s.network;
  n.packet = one_of<std::int64_t>({256, 1500, 4096}, random);
  n.nic_bandwidth = one_of<double>({12.5e9, 25e9, 5e9}, random);
  n.cable_delay = one_of<picoseconds>({2'000, 50'000, 400'000}, random);
  n.switch_delay = one_of<picoseconds>({0, 100'000}, random);
  n.credit_delay = one_of<picoseconds>({0, 100'000}, random);
  n.input_buffer = n.packet * one_of<std::int64_t>({1, 2, 16}, random);  // one packet is the least there can be
  n.output_buffer = n.packet * one_of<std::int64_t>({1, 4}, random);
  n.cut_through = random.below(2) == 0;
  s.routing.algorithm = all_algorithms[random.below(all_algorithms.size())];
  n.virtual_channels = find_topology(s.topology).build(s.parameters)->channels(s.routing.algorithm) *
                       one_of<unsigned>({1, 1, 2}, random);
  if (random.below(3) == 0) n.virtual_channels = 0;
  const auto modes = all_power_modes();
  s.power.mode = modes[random.below(static_cast<std::uint32_t>(modes.size()))].name;
  s.power.own = {{"hold", one_of<picoseconds>({0, 1'100'000}, random)},
                 {"hybrid_hold", 1'100'000},
                 {"quiet_time", 10'000'000},
                 {"wake_delays", random.below(4) != 0}};
  if (random.below(4) == 0) s.power.own["bound"] = 0.02;
  const std::uint32_t nodes = nodes_of(s);
  std::vector<std::uint32_t> all = first_nodes(nodes);
  for (std::uint32_t i = nodes; i-- > 1;) std::swap(all[i], all[random.below(i + 1)]);
  const unsigned jobs = nodes >= 12 ? 1 + random.below(3) : 1;  // on disjoint nodes
  for (unsigned j = 0; j < jobs; ++j)
    s.jobs.push_back(some_job({all.begin() + j * (nodes / jobs), all.begin() + (j + 1) * (nodes / jobs)}, random));
  return s;
}

[[nodiscard]] inline std::string described(const simulation& s) {
  std::string text =
      fmt::format("{} algorithm {} power {} cut-through {} buffers {} {} packet {} channels {}:", s.topology,
                  static_cast<int>(s.routing.algorithm), s.power.mode, s.network.cut_through, s.network.input_buffer,
                  s.network.output_buffer, s.network.packet, s.network.virtual_channels);
  for (const job& j : s.jobs)
    text += fmt::format(" pattern {} arrivals {} load {} message {} processes {};", j.pattern,
                        static_cast<int>(j.arrivals), j.load, j.message, j.nodes.size());
  return text;
}

}  // namespace lull::netsim
