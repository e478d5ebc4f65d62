// How an irregular application begins and ends: options that all of them have, mistakes in one line, exit codes.
#pragma once
#include <shmem.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <span>
#include <stdexcept>
#include <string>

namespace irregular {

struct options {
  std::string mode = "aggregated";  // direct, per-pe, per-node or aggregated
  std::uint64_t seed = 1;
  double min_time = 0;  // seconds; 0: one pass
  unsigned threads = 1;

  [[nodiscard]] bool direct() const { return mode == "direct"; }
  [[nodiscard]] lull::aggregate_options policy() const;
  [[nodiscard]] lull::aggregate_options policy_of_many_handlers() const;  // which may run in several threads at once
};

// `item`: what travels, "update". `seeded`: what the seed is of.
void add_options(CLI::App& app, options& wanted, const std::string& item, const std::string& seeded);

// A mistake in the command line that only several options together show.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// False when help was asked for, which has been printed.
[[nodiscard]] bool parse(CLI::App& app, int argc, char** argv);

// Within a handler: PE 0 says in one line what was caught, and the job ends, with 2 for a mistake in the command line,
// else with 1.
[[noreturn]] void end_for_what_was_caught(const char* name) noexcept;

// Whether the option --threads is there. A PE that has threads waits in another way, which costs it more: so this must
// be known before the options can be read.
[[nodiscard]] bool asks_for_threads(std::span<char* const> arguments);

// What main() does: run(options) with what add(app, options) has put there, between shmem_init_thread() and
// shmem_finalize(). Its result is the exit code. All PEs must find the same mistakes.
template <class Options>
int run_program(const char* name, const char* description, int argc, char** argv, void (*add)(CLI::App&, Options&),
                int (*run)(const Options&)) {
  shmem_init_thread(asks_for_threads({argv, argv + argc}) ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, nullptr);
  int code = 0;
  try {
    Options wanted;
    CLI::App app(description, name);
    add(app, wanted);
    if (parse(app, argc, argv)) code = run(wanted);
  } catch (...) {
    end_for_what_was_caught(name);
  }
  shmem_finalize();
  return code;
}

}  // namespace irregular
