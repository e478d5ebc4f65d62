// Shared by tests of programs: programs written as functions, and one switch with known latencies.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "netsim/program/player.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

using script = std::function<stream(std::uint32_t rank, const completions& done)>;
using groups = std::vector<std::vector<std::uint32_t>>;  // group 1 is the first

class scripted final : public program {
 public:
  explicit scripted(script of, groups known = {}) : of_(std::move(of)), groups_(std::move(known)) {}
  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override { return of_(rank, done); }
  [[nodiscard]] std::span<const std::uint32_t> group(std::uint32_t number) const override {
    return groups_.at(number - 1);
  }

 private:
  script of_;
  groups groups_;
};

// Adds a job that runs the script.
inline job& add_program(simulation& s, std::vector<std::uint32_t> nodes, script runs, values keys = {},
                        groups known = {}) {
  job& j = s.jobs.emplace_back();
  j.name = "program";
  j.nodes = std::move(nodes);
  j.own = std::move(keys);
  j.make = [runs = std::move(runs), known = std::move(known)](const job_setup& setup) {
    return play(setup, std::make_unique<scripted>(runs, known));
  };
  return j;
}

inline constexpr picoseconds us = 1'000'000;

// `nodes` nodes at one switch; all links 12.5 GB/s, default delays.
inline simulation one_switch(std::uint32_t nodes) {
  simulation s;
  s.topology = "leaf-spine";
  s.parameters = {{"leaves", {1}}, {"nodes_per_leaf", {nodes}}, {"spines", {1}}};
  return s;
}

// The latency of a message of `bytes` bytes without other traffic: interface, cable, switch, cable, interface, bits.
inline picoseconds latency(std::int64_t bytes) {
  return 2 * 500'000 + 2 * 50'000 + 100'000 + 80 * std::max<std::int64_t>(1, bytes);
}
// From its creation until its last byte has left the node.
inline picoseconds leaving(std::int64_t bytes) { return 500'000 + 80 * std::max<std::int64_t>(1, bytes); }

inline job_result played(const simulation& s) { return simulate(s, {}).jobs.front(); }

inline std::string failure(const simulation& s) {
  try {
    (void)simulate(s, {});
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace lull::netsim
