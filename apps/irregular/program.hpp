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

// `item`: what travels, "update". `seeded`: what the seed determines.
void add_options(CLI::App& app, options& wanted, const std::string& item, const std::string& seeded);

// A mistake that only several options together reveal.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns false if help was requested, which has been printed.
[[nodiscard]] bool parse(CLI::App& app, int argc, char** argv);

// For use inside a catch block: PE 0 prints the exception in one line, and the job ends, with exit code 2 for a mistake
// in the command line, otherwise 1.
[[noreturn]] void end_for_what_was_caught(const char* name) noexcept;

// Whether the option --threads is given. A PE with threads waits in another way, which costs more, so this must be
// known before the options can be read.
[[nodiscard]] bool asks_for_threads(std::span<char* const> arguments);

// The body of main(): run(options) with the options that add(app, options) defines, between shmem_init_thread() and
// shmem_finalize(). Returns the exit code. All PEs must find the same mistakes.
template <class Options>
int run_program(const char* name, const char* description, int argc, char** argv, void (*add)(CLI::App&, Options&),
                int (*run)(const Options&)) {
  Options wanted;
  return run_program(
      name, description, argc, argv, [&](CLI::App& app) { add(app, wanted); }, [&] { return run(wanted); });
}

}  // namespace irregular
