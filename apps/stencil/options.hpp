// The command line of stencil, read and checked.
#pragma once
#include <array>
#include <stdexcept>
#include <string>

namespace stencil {

struct options {
  std::array<int, 3> cells{32, 32, 32};  // in x, y, z, of each process
  bool cells_of_all = false;             // or of all processes together
  int steps = 100;
  int every = 10;         // steps between two outputs; 0: no output
  double cell_ns = 2700;  // computation per cell and step
  bool asleep = false;    // spends it asleep
  std::string out = ".";  // folder of the files
  bool verify = false;
  bool json = false;
};

// The command line requests help, which is `what()`.
class help_wanted : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A mistake in the command line, in one line.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] options parse(int argc, char** argv);

}  // namespace stencil
