#include "index_gather/options.hpp"

#include <CLI/CLI.hpp>

#include "irregular/command_line.hpp"

namespace index_gather {

void add_options(CLI::App& app, options& wanted) {
  irregular::add_options(app, wanted, "a request", "the random indices");
  irregular::add_target_options(app, wanted, "requests", "words");
  app.add_flag("--cache", wanted.cache, "Cache lines of the table from other nodes until the end of a pass");
}

}  // namespace index_gather
