// What is called with an iteration that has been written: functions of shared libraries (lull/stage_plugin.h) and of Python, each in a
// process of its own, which maps the blocks.
//
// A plug-in that fails, crashes or exits is reported in a line, once, and never costs output.
#pragma once
#include <span>

#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// Those that the iteration names, one after the other. Not thread-safe.
void run_plugins(std::span<const handed_over> all) noexcept;

}  // namespace lull::stage::blocks
