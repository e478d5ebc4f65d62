#include "options.hpp"

#include <CLI/CLI.hpp>
#include <vector>

namespace stencil {

options parse(int argc, char** argv) {
  options wanted;
  CLI::App app{
      "Stencil: air that carries 25 quantities over a plane, as an atmospheric model has it; each process writes its "
      "part "
      "as one HDF5 file, again and again.",
      "stencil"};
  std::vector<int> cells(wanted.cells.begin(), wanted.cells.end());
  CLI::Option* const of_each = app.add_option("--cells", cells, "Cells of each process in x, y and z")
                                   ->expected(3)
                                   ->check(CLI::Range(2, 4096))
                                   ->option_text("NX NY NZ  [32 32 32]");
  CLI::Option* const of_all =
      app.add_option("--all-cells", cells, "Cells of all processes together instead; they are distributed equally")
          ->expected(3)
          ->check(CLI::Range(2, 1 << 20))
          ->option_text("NX NY NZ")
          ->excludes(of_each);
  app.add_option("--steps", wanted.steps, "Steps in time")->check(CLI::Range(1, 1 << 30))->option_text("N  [100]");
  app.add_option("--every", wanted.every, "Steps between two outputs; 0: none")
      ->check(CLI::Range(0, 1 << 30))
      ->option_text("N  [10]");
  app.add_option("--cell-ns", wanted.cell_ns, "Computation of a cell in a step, at least what the step itself takes")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("NANOSECONDS  [2700]");
  app.add_flag(
      "--asleep", wanted.asleep,
      "Let the time of computation pass asleep, as if each process had a core of its own: for more processes than "
      "cores");
  app.add_option("--out", wanted.out, "Folder of the files; it must be there")->option_text("FOLDER  [.]");
  app.add_flag("--verify", wanted.verify, "Check that nothing that is carried is lost");
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
