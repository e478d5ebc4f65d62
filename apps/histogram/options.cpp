#include "histogram/options.hpp"

#include "irregular/command_line.hpp"

namespace histogram {

void add_options(CLI::App& app, options& wanted) {
  irregular::add_options(app, wanted, "an update", "the random indices");
  irregular::add_target_options(app, wanted, "updates", "bins");
}

}  // namespace histogram
