#include "irregular/command_line.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <CLI/CLI.hpp>

namespace irregular {

void add_options(CLI::App& app, options& wanted, const std::string& item, const std::string& seeded) {
  app.option_defaults()->always_capture_default();
  app.add_option("--mode", wanted.mode,
                 fmt::format("How {0} travels: as one remote operation; in buffers of each PE; in buffers that the PEs "
                             "of a node share; in the buffers that Lull chooses",
                             item))
      ->check(CLI::IsMember({"direct", "per-pe", "per-node", "aggregated"}))
      ->option_text("direct|per-pe|per-node|aggregated  [aggregated]");
  app.add_option("--threads", wanted.threads, "Threads of each PE, each with a share of its items")
      ->check(CLI::Range(1U, 1024U))
      ->option_text("1..1024  [1]");
  app.add_option("--seed", wanted.seed, "Seed of " + seeded);
  app.add_option("--min-time", wanted.min_time, "Repeat the work, after a warm-up, for at least this many seconds")
      ->check(CLI::Range(0.0, 3600.0));
}

void add_target_options(CLI::App& app, target_options& wanted, const std::string& items, const std::string& words) {
  app.add_option("--" + items + ",--items", wanted.count,
                 fmt::format("{} for each thread of each PE, uniform at random", items))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->option_text("N  [1000000]");
  app.add_option("--table", wanted.table,
                 fmt::format("{} for each thread of each PE (with --input: as many as the indices need)", words))
      ->check(CLI::Range(std::uint64_t{1}, most_words))
      ->option_text("N  [10000]");
  app.add_option("--input", wanted.input, "Read the indices from a file: raw uint64, or an integer array *.npy")
      ->option_text("FILE");
  app.parse_complete_callback([&app, &wanted] {
    if (!wanted.input.empty() && app.count("--table") == 0) wanted.table = 0;
  });
}

bool read_command_line(const char* name, const char* description, int argc, char** argv,
                       const std::function<void(CLI::App&)>& add) {
  CLI::App app(description, name);
  add(app);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    if (shmem_my_pe() == 0) fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& mistake) {
    throw usage_error(std::string(mistake.what()) + "; --help shows the options");
  }
}

}  // namespace irregular
