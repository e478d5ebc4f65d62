// How an irregular application begins and ends: options that all of them have, mistakes in one line, exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <lull/aggregate.hpp>
#include <stdexcept>
#include <string>

namespace irregular {

struct options {
  std::string mode = "aggregated";  // direct, per-pe, per-node or aggregated
  std::uint64_t seed = 1;
  double min_time = 0;  // seconds; 0: one pass

  [[nodiscard]] bool direct() const { return mode == "direct"; }
  [[nodiscard]] lull::aggregate_options policy() const;
};

// `item`: what travels, "update". `seeded`: what the seed is of.
void add_options(CLI::App& app, options& wanted, const std::string& item, const std::string& seeded);

// A mistake in the command line that only several options together show.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Between shmem_init() and shmem_finalize(): reads the command line and calls `body`, whose result is the exit code.
// All PEs must find the same mistakes. PE 0 says them in one line, and the job ends with 2 for a usage_error, with 1
// for any other exception.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

}  // namespace irregular
