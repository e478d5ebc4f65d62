// The measuring program behind `lull calibrate`: each run measures one part, and prints it as a line of JSON on stdout.
//
//   lull-calibrate transfers [--receiver] [--between-nodes] | wake-ups | memory | storage FOLDER | recording FOLDER
//                  | waiting SECONDS
//
// transfers, wake-ups and waiting are OpenSHMEM programs, which a launcher starts; PE 0 prints their line. Arguments
// configure their runtime, because not every launcher passes variables on to other nodes.
#include <shmem.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "calibrate/parts.hpp"

namespace {

void print(const nlohmann::json& found) { std::printf("%s\n", found.dump().c_str()); }

// Runs as an OpenSHMEM program with at least this number of PEs.
int as_job(const std::string& policy, int fewest_pes, int threads, const std::function<nlohmann::json()>& part) {
  // NOLINTBEGIN(concurrency-mt-unsafe): before any thread starts
  setenv("LULL_WAIT", policy.c_str(), 1);
  setenv("LULL_TRANSFORM", "off", 1);
  setenv("LULL_MACHINE", "builtin", 1);
  setenv("LULL_STATS", "0", 1);
  // NOLINTEND(concurrency-mt-unsafe)
  int level = 0;
  shmem_init_thread(threads, &level);
  if (shmem_n_pes() < fewest_pes) {
    std::fprintf(stderr, "lull: calibrate: the job has %d PE, but this part needs %d; raise -n\n", shmem_n_pes(),
                 fewest_pes);
    shmem_finalize();
    return 2;
  }
  try {
    const nlohmann::json found = part();
    if (shmem_my_pe() == 0) print(found);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "lull: calibrate: %s\n", problem.what());
    std::fflush(stderr);
    shmem_global_exit(1);
  }
  shmem_finalize();
  return 0;
}

int alone(const std::function<nlohmann::json()>& part) {
  print(part());
  return 0;
}

int called(int argc, char** argv) {
  namespace c = lull::calibrate;
  CLI::App app("Measures one part of a machine, for lull calibrate.", "lull-calibrate");
  app.require_subcommand(1);
  int exit_code = 0;
  std::string policy = "interrupt";
  app.add_option("--wait", policy, "how PEs wait, as in LULL_WAIT");

  c::transfers_wanted transfers;
  auto* const of_transfers = app.add_subcommand("transfers", "measure messages between PEs");
  of_transfers->add_option("--largest", transfers.largest, "bytes of the largest message")
      ->check(CLI::Range(64UL, 1UL << 28U));
  of_transfers->add_option("--rounds", transfers.rounds, "rounds over all sizes")->check(CLI::Range(1, 1000));
  of_transfers->add_flag("--receiver", transfers.receiver, "measure the receiver's CPU time instead of the duration");
  of_transfers->add_flag("--between-nodes", transfers.between_nodes,
                         "measure between PEs of different nodes instead of one node");
  of_transfers->callback(
      [&] { exit_code = as_job(policy, 2, SHMEM_THREAD_SINGLE, [&] { return c::transfers(transfers); }); });

  double seconds = 0.2;
  auto* const of_wake_ups = app.add_subcommand("wake-ups", "measure the latency of wake-ups");
  of_wake_ups->add_option("--seconds", seconds, "seconds for each length of wait")->check(CLI::Range(0.001, 60.0));
  of_wake_ups->callback(
      [&] { exit_code = as_job(policy, 2, SHMEM_THREAD_SINGLE, [&] { return c::wake_ups(seconds); }); });

  int rounds = 7;
  auto* const of_memory = app.add_subcommand("memory", "measure copies in memory");
  of_memory->add_option("--rounds", rounds, "rounds of all copies")->check(CLI::Range(1, 1000));
  of_memory->callback([&] { exit_code = alone([&] { return c::memory(rounds); }); });

  c::storage_wanted storage;
  auto* const of_storage = app.add_subcommand("storage", "measure writing to files");
  of_storage->add_option("folder", storage.folder)->required();
  of_storage->add_option("--bytes", storage.bytes_per_writer, "bytes that each writer writes")
      ->check(CLI::Range(1UL, 1UL << 36U));
  of_storage->add_option("--rounds", storage.rounds, "rounds over all numbers of writers")->check(CLI::Range(1, 1000));
  of_storage->callback([&] { exit_code = alone([&] { return c::storage(storage); }); });

  std::string traces;
  auto* const of_recording = app.add_subcommand("recording", "measure the recording of calls");
  of_recording->add_option("folder", traces)->required();
  of_recording->callback([&] { exit_code = alone([&] { return c::recording(traces); }); });

  double asleep = 0;
  auto* const of_waiting = app.add_subcommand("waiting", "let PEs wait while the meter measures");
  of_waiting->add_option("seconds", asleep)->required()->check(CLI::Range(0.001, 3600.0));
  of_waiting->callback(
      [&] { exit_code = as_job(policy, 1, SHMEM_THREAD_MULTIPLE, [&] { return c::waiting(asleep); }); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return called(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "lull: calibrate: %s\n", problem.what());
    return 1;
  }
}
