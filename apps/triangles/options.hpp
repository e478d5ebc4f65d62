// The options of triangles.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "irregular/program.hpp"

namespace triangles {

struct options : irregular::options {
  std::string input;
  std::optional<std::uint64_t> expect;
  std::uint64_t vertices = 10'000;
  std::uint64_t degree = 16;
};

void add_options(CLI::App& app, options& wanted);

}  // namespace triangles
