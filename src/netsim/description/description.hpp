// The description of a simulation: the content of one TOML file, checked as a whole before the simulation runs.
//
// seed, end, ...       of the whole simulation
// [topology]           a preset, or a name and its parameters
// [network]            packets, rates, delays, buffers
// [routing]            how a packet finds its path
// [power]              what idle links do, and what that saves
// [[savings]]          power modes whose saving without delays the same run computes
// [[jobs]]             which processes send what to which, and when
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

// A topology with all its parameters; `preset` is "" if none was named.
struct network_choice {
  std::string name;
  std::string preset;
  netsim::parameters parameters;
};

// How many processes a job has, and where they run; the caller of placed() chooses what is left open.
struct placement {
  std::optional<std::int64_t> processes;
  std::int64_t per_node = 1;         // processes per node; the last node may have fewer
  std::string mapping;               // linear or random; "" if nodes are listed
  std::vector<std::uint32_t> nodes;  // as listed
};

struct description {
  simulation asked;  // its jobs have no nodes yet
  network_choice network;
  std::vector<placement> placements;  // of each job
  std::optional<double> link_watts;
  table content;  // with every default that applies, as a user could have written it; reading it gives the same
                  // description
};

// `asked` starts the error messages: "read net.toml". Throws lull::usage_error for the first mistake: the key, its
// value and the allowed values.
[[nodiscard]] description read_description(const value& content, const std::string& asked);

// The meaning of a [topology] on its own.
[[nodiscard]] network_choice read_network_choice(const value& content, const position& at);

// The simulation with its processes on these nodes. Throws lull::usage_error if a job cannot run on them.
[[nodiscard]] simulation placed(const description& d, const std::vector<std::vector<std::uint32_t>>& nodes);

}  // namespace lull::netsim
