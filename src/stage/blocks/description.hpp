// A program's description of its output, in TOML: parameters, layouts, variables, the files' folder, plug-ins.
// docs/reference/stage-toml.md documents the format.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "stage/blocks/block_file.hpp"

namespace lull::stage::blocks {

using extent = std::variant<std::int64_t, std::string>;  // a number, or a parameter's name

struct layout {
  element type = element::float64;
  std::vector<extent> all;
  std::vector<extent> cut;  // parts in each dimension; empty: each process places its block itself
};

struct described_variable {
  std::string name;
  std::string layout;
  std::string unit;
  compression packed;
};

struct description {
  std::map<std::string, std::int64_t> parameters;  // including `process` and `processes`
  std::map<std::string, layout> layouts;
  std::vector<described_variable> variables;
  std::string folder;  // absolute
  std::string name;
  bool file_of_server = false;
  std::vector<plugin> plugins;
};

// `text`: the path of a TOML file or, if it contains a line break, TOML itself. Throws lull::usage_error, which names
// the place, for anything unknown.
[[nodiscard]] description read_description(const std::string& text, int process, int processes);

// The block of each variable, in their order, of the process in the parameter `process`. A layout is cut into equal
// parts, which belong to the processes in their order, the last dimension fastest. Processes beyond the parts, and
// processes that place their block themselves, have an empty one. Throws lull::usage_error if a parameter has no value.
[[nodiscard]] std::vector<block> blocks_of(const description& what);

}  // namespace lull::stage::blocks
