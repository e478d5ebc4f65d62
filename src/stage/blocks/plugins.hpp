// Calls plug-ins with an iteration that has been written: functions of shared libraries (lull/stage_plugin.h) and of
// Python, each in its own process, which maps the blocks.
//
// A plug-in that fails, crashes or exits is reported once, in a line, and never affects the output.
#pragma once
#include <span>

#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// Calls the plug-ins that the iteration names, one after the other. Not thread-safe.
void run_plugins(std::span<const handed_over> all) noexcept;

}  // namespace lull::stage::blocks
