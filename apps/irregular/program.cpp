#include "irregular/program.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "irregular/command_line.hpp"

namespace irregular {
namespace {

// PE 0 prints one line and the job ends. The others only wait for that.
[[noreturn]] void refuse(const char* program, const char* line, int code) {
  if (shmem_my_pe() == 0) {
    fmt::print(stderr, "{}: {}\n", program, line);
    shmem_global_exit(code);
  }
  shmem_barrier_all();
  std::exit(code);
}

[[noreturn]] void end_for_what_was_caught(const char* name) noexcept {
  try {
    throw;
  } catch (const usage_error& mistake) {
    refuse(name, mistake.what(), 2);
  } catch (const std::bad_alloc&) {
    refuse(name, "no room for the aggregation buffers; raise SHMEM_SYMMETRIC_SIZE or lower LULL_AGGREGATE_BUFFER_BYTES",
           1);
  } catch (const std::exception& failure) {
    refuse(name, failure.what(), 1);
  } catch (...) {
    refuse(name, "it failed, and does not say why", 1);
  }
}

// Whether the option --threads is there. It must be known before the options can be read, because a PE with threads
// waits in another way, which costs it more.
bool requests_threads(std::span<char* const> arguments) {
  return std::ranges::any_of(arguments, [](const char* a) { return std::string_view(a).starts_with("--threads"); });
}

}  // namespace

lull::aggregate_options options::policy() const {
  lull::aggregate_options chosen;
  if (mode == "per-pe") chosen.buffers = lull::aggregate_buffers::per_pe;
  if (mode == "per-node") chosen.buffers = lull::aggregate_buffers::per_node;
  chosen.getters = threads > 1;
  if (mode != "aggregated") chosen.direct = 0;  // a mode that was requested by name is never replaced
  return chosen;
}

lull::aggregate_options options::policy_of_many_handlers() const {
  lull::aggregate_options chosen = policy();
  chosen.concurrent_handlers = true;
  return chosen;
}

int run_program(const char* name, const char* description, int argc, char** argv,
                const std::function<void(CLI::App&)>& add_options, const std::function<int()>& run) {
  shmem_init_thread(requests_threads({argv, argv + argc}) ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, nullptr);
  int code = 0;
  try {
    if (read_command_line(name, description, argc, argv, add_options)) code = run();
  } catch (...) {
    end_for_what_was_caught(name);
  }
  shmem_finalize();
  return code;
}

}  // namespace irregular
