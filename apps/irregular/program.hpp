// The main program of irregular applications: their common options, mistakes in one line, exit codes.
#pragma once
#include <shmem.h>

#include <cstdint>
#include <functional>
#include <lull/aggregate.hpp>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace irregular {

struct options {
  std::string mode = "aggregated";  // direct, per-pe, per-node or aggregated
  std::uint64_t seed = 1;
  double min_time = 0;  // seconds; 0: one pass
  unsigned threads = 1;

  [[nodiscard]] bool direct() const { return mode == "direct"; }
  [[nodiscard]] lull::aggregate_options policy() const;
  [[nodiscard]] lull::aggregate_options policy_of_many_handlers() const;  // handlers may run in several threads at once
};

// A mistake that only several options together reveal.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The body of main(): initializes OpenSHMEM with the threads that the command line requests, reads the command line, calls
// `run` unless help was requested, and finalizes. Returns the exit code: that of `run`, 2 for a mistake in the command
// line, 1 for any other failure. All PEs must find the same mistakes; PE 0 prints one line.
int run_program(const char* name, const char* description, int argc, char** argv,
                const std::function<void(CLI::App&)>& add_options, const std::function<int()>& run);

template <class Options>
int run_program(const char* name, const char* description, int argc, char** argv, void (*add)(CLI::App&, Options&),
                int (*run)(const Options&)) {
  Options wanted;
  return run_program(
      name, description, argc, argv, [&](CLI::App& app) { add(app, wanted); }, [&] { return run(wanted); });
}

}  // namespace irregular
