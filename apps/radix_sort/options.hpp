// The options of radix_sort.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "irregular/program.hpp"

namespace radix_sort {

inline constexpr std::uint64_t most_keys = 0xffff'ffff;  // of a PE: positions there have 32 bits

struct options : irregular::options {
  std::uint64_t keys = 1'000'000;
  std::size_t key_bytes = 8;
  std::size_t payload = 0;
  unsigned digit_bits = 16;
  std::string input;
};

void add_options(CLI::App& app, options& wanted);

}  // namespace radix_sort
