// The table of the machine-dependent constants: a row for each numeric member of `machine`. Machine files set them by
// these names; docs/reference/constants.md shows the whole table, and lull._core.constants() returns it to Python.
//
// machine.hpp has their defaults. Running programs do not use this table: choosers read the members.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.hpp"

namespace lull::model {

enum class origin { measured, chosen };  // measured: on the two-core virtual machine on which Lull is developed

// The range of a value, both ends included.
struct bounds {
  double least, most;
};

// How lull calibrate measures a constant: the value of the machine file that replaces it, or why there is none.
struct calibration {
  const char *figure, *unmeasured;  // one of them is empty
};

struct constant {
  const char* name;  // GROUP.MEMBER, as in the [constants] of a machine file
  bool whole;        // an integer
  double (*get)(const machine& of);
  void (*set)(machine& of, double to);
  bounds range;
  const char* unit;
  const char* meaning;
  origin from;
  const char* because;  // measured: the page or command that repeats the measurement; chosen: the reason
  calibration by;
};

[[nodiscard]] std::span<const constant> all_constants();
[[nodiscard]] const constant* find_constant(std::string_view name);

// Why no constant has this name, or it cannot have this value, in a few words; empty if valid.
[[nodiscard]] std::string problem_of_constant(std::string_view name, double value);
// How the constants of a machine contradict each other; empty if they do not.
[[nodiscard]] std::string contradiction_in(const machine& all);

}  // namespace lull::model
