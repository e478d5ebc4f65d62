// Reads the constants that lull calibrate has measured; constants that are not in the file keep the defaults of
// machine.hpp.
//
// docs/reference/machine-toml.md describes the file, docs/explanation/the-model.md which constant comes from which
// value. This code reads only what choosers use; the command `lull` checks the whole file.
#pragma once
#include <string>

#include "model/machine/machine.hpp"

namespace lull::model {

// Throws lull::usage_error, with the line, if the file cannot be read, has a later format, or an impossible value.
[[nodiscard]] machine read_machine_file(const std::string& path);

// The file of this host that lull calibrate writes; empty if neither XDG_CONFIG_HOME nor HOME is set.
[[nodiscard]] std::string machine_file_of_this_host();

// Whether choosers correct predictions by their measurements (LULL_CHOOSE).
[[nodiscard]] bool choosers_correct();

// By LULL_MACHINE and LULL_CHOOSE; read once, by the first call. Throws as above; a file that LULL_MACHINE names must
// exist.
[[nodiscard]] const machine& this_machine();

}  // namespace lull::model
