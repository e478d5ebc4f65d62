#include "options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace access_patterns {
namespace {

constexpr std::uint64_t most_fragments = 65536;
constexpr std::uint64_t most_cold = 256U << 20U;

}  // namespace

void check_fragments(const std::vector<std::uint64_t>& fragments, std::uint64_t payload) {
  for (const std::uint64_t n : fragments) {
    const std::string words = std::to_string(n) + " fragments of a payload of " + std::to_string(payload);
    if (n > payload) throw usage_error(words + " bytes: a fragment would be smaller than a byte; give fewer fragments");
    if (payload % n != 0)
      throw usage_error(words + " bytes: the fragments would differ in size; give a divisor of the payload");
  }
}

std::uint64_t cold_bytes() {
  long last = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    last = std::max(last, sysconf(level));
  return std::clamp<std::uint64_t>(2 * static_cast<std::uint64_t>(last), 1U << 20U, most_cold);
}

options parse(int argc, char** argv) {
  options wanted;
  CLI::App app{
      "Measures data access patterns: ways to copy, put, complete and signal a payload that consists of fragments.",
      "access_patterns"};
  app.option_defaults()->always_capture_default();
  const auto size = CLI::AsSizeValue(false);
  const auto sizes = CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U);
  app.add_option("--pattern", wanted.patterns,
                 "Patterns, as words of the letters M (copy), P (put), Q (quiet) and A (signal); the receiver runs "
                 "what follows A")
      ->option_text("WORD...  [MPQMPQ MPMPQ PQPQ PPQ MMPQAMM]");
  app.add_option("--payload", wanted.payload, "Size of what a sender sends each time, in bytes or with K or M")
      ->transform(size)
      ->check(sizes)
      ->option_text("SIZE  [512K]");
  app.add_option("--fragments", wanted.fragments, "Numbers of fragments of the payload; each must divide the payload")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->option_text("N...  [1 2 4 ... 65536]");
  const std::map<std::string, layout> layouts{{"contiguous", layout::contiguous}, {"scattered", layout::scattered}};
  app.add_option("--layout", wanted.place,
                 "Whether the fragments are adjacent, or at random places with gaps between them")
      ->transform(CLI::CheckedTransformer(layouts))
      ->option_text("contiguous|scattered  [contiguous]");
  app.add_option("--working-set", wanted.working_set,
                 "Total size of the buffers that are used in rotation so that each is cold in the cache")
      ->transform(size)
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 34U))
      ->option_text("SIZE  [twice the last cache, at most 256M]");
  auto* const iterations =
      app.add_option("--iterations", wanted.iterations, "Number of payloads that each sender sends, instead of a time")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U))
          ->option_text("N");
  app.add_option("--seconds", wanted.seconds, "Approximate time for each pattern and number of fragments")
      ->check(CLI::Range(0.001, 3600.0))
      ->excludes(iterations)
      ->option_text("S  [0.2]");
  app.add_flag("--nbi", wanted.non_blocking, "Let P call shmem_putmem_nbi instead of shmem_putmem");
  app.add_flag("--json", wanted.json, "Print one JSON object per line instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw help_wanted(app.help());
  } catch (const CLI::ParseError& mistake) {
    throw usage_error(std::string(mistake.what()) + "; --help shows the options");
  }
  if (wanted.working_set == 0) wanted.working_set = cold_bytes();
  if (wanted.fragments.empty())
    for (std::uint64_t n = 1; n <= std::min(most_fragments, wanted.payload); n *= 2) wanted.fragments.push_back(n);
  check_fragments(wanted.fragments, wanted.payload);
  return wanted;
}

}  // namespace access_patterns
