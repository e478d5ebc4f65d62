#include "options.hpp"

#include <CLI/CLI.hpp>
#include <vector>

namespace stencil {

options parse(int argc, char** argv) {
  options wanted;
  CLI::App app{
      "Stencil: transports 25 quantities with the air over a plane, as an atmospheric model does; at each output every "
      "process writes its part to one HDF5 file.",
      "stencil"};
  std::vector<int> cells(wanted.cells.begin(), wanted.cells.end());
  CLI::Option* const of_each = app.add_option("--cells", cells, "Cells of each process in x, y and z")
                                   ->expected(3)
                                   ->check(CLI::Range(2, 4096))
                                   ->option_text("NX NY NZ  [32 32 32]");
  CLI::Option* const of_all =
      app.add_option("--all-cells", cells, "Cells of all processes together, distributed equally, instead of --cells")
          ->expected(3)
          ->check(CLI::Range(2, 1 << 20))
          ->option_text("NX NY NZ")
          ->excludes(of_each);
  app.add_option("--steps", wanted.steps, "Number of time steps")
      ->check(CLI::Range(1, 1 << 30))
      ->option_text("N  [100]");
  app.add_option("--every", wanted.every, "Steps between two outputs; 0: none")
      ->check(CLI::Range(0, 1 << 30))
      ->option_text("N  [10]");
  app.add_option("--cell-ns", wanted.cell_ns,
                 "Computing time of a cell in a step; at least the time that the step itself takes")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("NANOSECONDS  [2700]");
  app.add_flag(
      "--asleep", wanted.asleep,
      "Sleep for the computing time, as if each process had its own core; for runs with more processes than cores");
  app.add_option("--out", wanted.out, "Folder of the files; it must exist")->option_text("FOLDER  [.]");
  app.add_flag("--verify", wanted.verify, "Check that no transported quantity is lost");
  app.add_flag("--json", wanted.json, "Print one JSON object instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw help_wanted(app.help());
  } catch (const CLI::ParseError& mistake) {
    throw usage_error(std::string(mistake.what()) + "; --help shows the options");
  }
  std::copy(cells.begin(), cells.end(), wanted.cells.begin());
  wanted.cells_of_all = of_all->count() > 0;
  return wanted;
}

}  // namespace stencil
