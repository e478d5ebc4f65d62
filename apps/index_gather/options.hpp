// The options of index_gather.
#pragma once
#include "irregular/program.hpp"
#include "irregular/targets.hpp"

namespace index_gather {

struct options : irregular::options, irregular::target_options {
  bool cache = false;
};

void add_options(CLI::App& app, options& wanted);

}  // namespace index_gather
