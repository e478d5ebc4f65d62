// The options that irregular applications share, and how they read their command line.
//
// CLI11 is compiled with each source that includes it, which takes longer than the application itself. Only
// command_line.cpp and the applications' options.cpp include it; they are not optimized (CMakeLists.txt).
#pragma once
#include <functional>
#include <string>

#include "irregular/program.hpp"
#include "irregular/targets.hpp"

namespace irregular {

// The options of all applications. `item`: what travels, "an update"; `seeded`: what the seed determines.
void add_options(CLI::App& app, options& wanted, const std::string& item, const std::string& seeded);

// `items`: what goes to the targets, "updates", the option that counts them; `words`: what the table has, "bins".
void add_target_options(CLI::App& app, target_options& wanted, const std::string& items, const std::string& words);

// False when help was requested and has been printed. Throws usage_error.
[[nodiscard]] bool read_command_line(const char* name, const char* description, int argc, char** argv,
                                     const std::function<void(CLI::App&)>& add);

}  // namespace irregular
