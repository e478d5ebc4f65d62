#include "options.hpp"

#include <CLI/CLI.hpp>

namespace shift {
namespace {

constexpr std::uint64_t word = 8;

void check_together(const options& wanted) {
  if (wanted.min_bytes > wanted.max_bytes)
    throw usage_error("sizes from --min " + std::to_string(wanted.min_bytes) + " to --max " +
                      std::to_string(wanted.max_bytes) + ": the minimum is larger than the maximum; exchange them");
  if (wanted.op == "accumulate" && wanted.min_bytes % word != 0)
    throw usage_error("accumulate " + std::to_string(wanted.min_bytes) +
                      " bytes: accumulate adds doubles of 8 bytes; give a multiple of 8 with --min");
}

}  // namespace

std::vector<std::size_t> options::sizes() const {
  std::vector<std::size_t> result;
  for (std::size_t bytes = min_bytes; bytes <= max_bytes; bytes *= 2) result.push_back(bytes);
  return result;
}

options parse(int argc, char** argv) {
  options wanted;
  CLI::App app{"Shift: every PE transfers data to the next PE and waits until each transfer has arrived.", "shift"};
  app.option_defaults()->always_capture_default();
  const auto size = CLI::AsSizeValue(false);
  const auto sizes = CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U);
  app.add_option("--op", wanted.op, "Kind of transfer; strided puts equal blocks whose gaps are as long as the blocks")
      ->check(CLI::IsMember({"put", "get", "accumulate", "strided"}))
      ->option_text("put|get|accumulate|strided  [put]");
  app.add_option("--min", wanted.min_bytes, "Smallest transfer, in bytes or with K or M")
      ->transform(size)
      ->check(sizes)
      ->option_text("SIZE  [8]");
  app.add_option("--max", wanted.max_bytes, "Largest transfer; sizes double from the smallest up to it")
      ->transform(size)
      ->check(sizes)
      ->option_text("SIZE  [4M]");
  app.add_option("--block", wanted.block, "Bytes of one block of a strided put")
      ->transform(size)
      ->check(sizes)
      ->option_text("SIZE  [512]");
  auto* const iterations = app.add_option("--iterations", wanted.iterations,
                                          "Number of transfers of each PE for each size, instead of a time")
                               ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U))
                               ->option_text("N");
  app.add_option("--seconds", wanted.seconds, "Approximate time for each size")
      ->check(CLI::Range(0.001, 3600.0))
      ->excludes(iterations)
      ->option_text("S  [0.5]");
  app.add_option("--to", wanted.to, "Target of the transfers: the next PE, or all others in rotation")
      ->check(CLI::IsMember({"next", "all"}))
      ->option_text("next|all  [next]");
  app.add_option("--from", wanted.from, "Whether all PEs transfer at once, or only the first")
      ->check(CLI::IsMember({"all", "first"}))
      ->option_text("all|first  [all]");
  app.add_option("--idle-gap", wanted.gap_us, "Time without communication between two transfers")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("MICROSECONDS  [0]");
  app.add_option("--gap", wanted.gap, "What a PE does in the gap")
      ->check(CLI::IsMember({"compute", "sleep"}))
      ->option_text("compute|sleep  [compute]");
  app.add_flag("--verify", wanted.verify, "Verify the data that arrived");
  app.add_flag("--json", wanted.json, "Print one JSON object per size instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw help_wanted(app.help());
  } catch (const CLI::ParseError& mistake) {
    throw usage_error(std::string(mistake.what()) + "; --help shows the options");
  }
  check_together(wanted);
  return wanted;
}

}  // namespace shift
