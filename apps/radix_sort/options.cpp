#include "radix_sort/options.hpp"

#include <CLI/CLI.hpp>

#include "irregular/command_line.hpp"

namespace radix_sort {

void add_options(CLI::App& app, options& wanted) {
  irregular::add_options(app, wanted, "an element", "the random elements");
  auto* const keys =
      app.add_option("--keys,--items", wanted.keys, "Elements for each thread of each PE, with keys uniform at random")
          ->check(CLI::Range(std::uint64_t{1}, most_keys))
          ->option_text("N  [1000000]");
  app.add_option("--key-bytes", wanted.key_bytes, "Bytes of a key, an unsigned little-endian number")
      ->check(CLI::Range(8, 32))
      ->option_text("8..32  [8]");
  app.add_option("--payload", wanted.payload, "Bytes of payload that travel with each key")
      ->check(CLI::Range(0, 4096))
      ->option_text("0..4096  [0]");
  app.add_option("--digit-bits", wanted.digit_bits, "Bits of the key that one pass sorts by")
      ->check(CLI::Range(1, 20))
      ->option_text("1..20  [16]");
  app.add_option("--input", wanted.input, "Sort the elements in a file of raw bytes")
      ->excludes(keys)
      ->option_text("FILE");
}

}  // namespace radix_sort
