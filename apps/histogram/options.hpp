// The options of histogram.
#pragma once
#include "irregular/program.hpp"
#include "irregular/targets.hpp"

namespace histogram {

struct options : irregular::options, irregular::target_options {};

void add_options(CLI::App& app, options& wanted);

}  // namespace histogram
