#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace gpu_patterns {
namespace {

using access_patterns::usage_error;

constexpr std::uint64_t most_fragments = 65536;

access_patterns::pattern checked(const std::string& word, const options& wanted) {
  access_patterns::pattern of = access_patterns::parse_pattern(word, access_patterns::layout::contiguous);
  if (of.tells)
    throw usage_error("pattern " + word +
                      ": the GPU has no receiver to signal (A) or to unpack; end the pattern with its Q");
  if (of.copies() && wanted.pageable)
    throw usage_error("pattern " + word + ": M copies into pinned memory, which --pageable does not use; leave M out");
  if (of.copies() && wanted.from_gpu)
    throw usage_error("pattern " + word +
                      ": M copies what the host sends, and with --direction from the host sends nothing; leave M out");
  return of;
}

}  // namespace

options parse(int argc, char** argv) {
  options wanted;
  std::vector<std::string> words;
  CLI::App app{
      "Measures access patterns between host and GPU: ways to copy, transfer and wait for a payload that consists of "
      "fragments.",
      "gpu_patterns"};
  app.option_defaults()->always_capture_default();
  app.add_option("--pattern", words,
                 "Patterns, as words of the letters M (copy into pinned memory), P (asynchronous transfer) and Q "
                 "(synchronise the stream)")
      ->option_text("WORD...  [MPQMPQ MPMPQ PQPQ PPQ MMPQ; without M where it does not apply]");
  app.add_option("--payload", wanted.payload, "Size of each transfer, in bytes or with K or M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->option_text("SIZE  [512K]");
  app.add_option("--fragments", wanted.fragments, "Numbers of fragments of the payload; each must divide the payload")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->option_text("N...  [1 16 256 4096 65536]");
  const std::map<std::string, bool> directions{{"to", false}, {"from", true}};
  app.add_option("--direction", wanted.from_gpu, "Direction of the transfer: to the GPU or from it")
      ->transform(CLI::CheckedTransformer(directions))
      ->option_text("to|from  [to]");
  const std::map<std::string, waiting> waits{
      {"spin", waiting::spin}, {"yield", waiting::yield}, {"block", waiting::block}};
  app.add_option("--wait", wanted.wait, "How the program waits for the GPU: it polls, polls and yields, or sleeps")
      ->transform(CLI::CheckedTransformer(waits))
      ->option_text("spin|yield|block  [spin]");
  app.add_option("--device", wanted.device, "CUDA's number of the GPU")
      ->check(CLI::Range(0, 1 << 16))
      ->option_text("N  [0]");
  auto* const iterations = app.add_option("--iterations", wanted.iterations, "Number of payloads, instead of a time")
                               ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U))
                               ->option_text("N");
  app.add_option("--seconds", wanted.seconds, "Approximate time for each pattern and number of fragments")
      ->check(CLI::Range(0.001, 3600.0))
      ->excludes(iterations)
      ->option_text("S  [3]");
  app.add_flag("--pageable", wanted.pageable, "Let P copy memory that is not pinned, synchronously");
  app.add_flag("--json", wanted.json, "Print one JSON object per line instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw access_patterns::help_wanted(app.help());
  } catch (const CLI::ParseError& mistake) {
    throw usage_error(std::string(mistake.what()) + "; --help shows the options");
  }
  if (words.empty()) {
    words = {"PQPQ", "PPQ"};
    if (!wanted.pageable && !wanted.from_gpu) words = {"MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQ"};
  }
  for (const std::string& word : words) wanted.patterns.push_back(checked(word, wanted));
  if (wanted.fragments.empty())
    for (std::uint64_t n = 1; n <= std::min(most_fragments, wanted.payload); n *= 16) wanted.fragments.push_back(n);
  access_patterns::check_fragments(wanted.fragments, wanted.payload);
  return wanted;
}

}  // namespace gpu_patterns
