// What a program says of its output, in TOML: parameters, layouts, variables, where the files go, plug-ins.
// docs/reference/stage-toml.md has all of it.
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
  std::vector<extent> cut;  // parts in each dimension; empty: each process says where its block is
};

struct described_variable {
  std::string name;
  std::string layout;
  std::string unit;
  compression packed;
};

struct description {
  std::map<std::string, std::int64_t> parameters;  // among them `process` and `processes`
  std::map<std::string, layout> layouts;
  std::vector<described_variable> variables;
  std::string folder;  // absolute
  std::string name;
  bool file_of_server = false;
  std::vector<plugin> plugins;
};

// `text`: a TOML file, or, if it has a line break, TOML itself. Throws lull::usage_error, naming the place, for what it does not
// understand.
[[nodiscard]] description read_description(const std::string& text, int process, int processes);

// The block of each variable, in their order, that the process of the parameter `process` has. A layout is cut into equal parts,
// which belong to the processes in their order, the last dimension first; a process beyond has an empty one, and so has one that
// has to say itself. Throws lull::usage_error where a parameter has no value.
[[nodiscard]] std::vector<block> blocks_of(const description& what);

}  // namespace lull::stage::blocks
