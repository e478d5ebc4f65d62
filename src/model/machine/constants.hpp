// The table of the constants that depend on a machine: a row for each numeric member of `machine`. Machine files set them
// by these names; docs/reference/constants.md shows the whole, lull._core.constants() has it for Python.
//
// Their defaults are those of machine.hpp. Nothing here is asked while a program runs: choosers take the members.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.hpp"

namespace lull::model {

enum class origin { measured, chosen };  // measured: on the two-core virtual machine on which Lull is developed

// What a value may be, both ends included.
struct bounds {
  double least, most;
};

// How lull calibrate measures a constant: the figure of the machine file that takes its place, or why there is none.
struct calibration {
  const char *figure, *unmeasured;  // one of them is empty
};

struct constant {
  const char* name;  // GROUP.MEMBER, as in the [constants] of a machine file
  bool whole;        // no fractions
  double (*get)(const machine& of);
  void (*set)(machine& of, double to);
  bounds range;
  const char* unit;
  const char* meaning;
  origin from;
  const char* because;  // measured: the page or command that repeats it; chosen: the reason
  calibration by;
};

[[nodiscard]] std::span<const constant> all_constants();
[[nodiscard]] const constant* find_constant(std::string_view name);

// Why there can be no such constant, or none with this value, in a few words; empty: it can be.
[[nodiscard]] std::string problem_of_constant(std::string_view name, double value);
// Why the constants of a machine contradict each other; empty: they do not.
[[nodiscard]] std::string contradiction_in(const machine& all);

}  // namespace lull::model
