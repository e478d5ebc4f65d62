// What a simulation is asked: the content of one TOML file, checked as a whole before anything runs.
//
// seed, end, warmup    of the whole simulation
// [topology]           a preset, or a name and its parameters
// [network]            packets, rates, delays, buffers
// [routing]            how a packet finds its path
// [power]              what links do when they are idle, and what that saves
// [[jobs]]             who sends what to whom, and when
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

// A topology with all its parameters; `preset` is "" where none was named.
struct network_choice {
  std::string name;
  std::string preset;
  netsim::parameters parameters;
};

// How many processes a job has, and where they run; who places them decides what is left open.
struct placement {
  std::optional<std::int64_t> processes;
  std::int64_t per_node = 1;         // processes on each node, the last node maybe fewer
  std::string mapping;               // linear or random; "" where nodes are listed
  std::vector<std::uint32_t> nodes;  // as listed
};

struct description {
  simulation asked;  // its jobs have no nodes yet
  network_choice network;
  std::vector<placement> placements;  // of each job
  std::optional<double> link_watts;
  table content;  // as a user could have written it, with every default that applies: it reads as the same
};

// `asked` begins the errors: "read net.toml". Throws lull::usage_error with the first mistake: the key, what was found,
// what is allowed.
[[nodiscard]] description read_description(const value& content, const std::string& asked);

// What a [topology] on its own means.
[[nodiscard]] network_choice read_network_choice(const value& content, const position& at);

// The simulation with its processes on these nodes. Throws lull::usage_error where a job cannot run like that.
[[nodiscard]] simulation placed(const description& d, const std::vector<std::vector<std::uint32_t>>& nodes);

}  // namespace lull::netsim
