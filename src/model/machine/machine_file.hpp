// The constants of the machine that lull calibrate has measured, over those of machine.hpp: what the file does not say stays.
//
// The form of the file is docs/reference/machine-toml.md, which constant comes from which figure docs/explanation/the-model.md. Only what
// choosers use is read here; the command `lull` checks all of it.
#pragma once
#include <string>

#include "model/machine/machine.hpp"

namespace lull::model {

// Throws lull::usage_error, with the line, for a file that cannot be read, is of a later form, or has a figure that cannot be.
[[nodiscard]] machine read_machine_file(const std::string& path);

// Where lull calibrate keeps the file of this host; empty where neither XDG_CONFIG_HOME nor HOME is set.
[[nodiscard]] std::string machine_file_of_this_host();

// Whether choosers correct what is predicted by what they measure (LULL_CHOOSE).
[[nodiscard]] bool choosers_correct();

// As LULL_MACHINE and LULL_CHOOSE say; read once, by the first who asks. Throws as above; a file that LULL_MACHINE names must be there.
[[nodiscard]] const machine& this_machine();

}  // namespace lull::model
