#include "triangles/options.hpp"

#include <CLI/CLI.hpp>

#include "irregular/command_line.hpp"
#include "triangles/edge_source.hpp"

namespace triangles {

void add_options(CLI::App& app, options& wanted) {
  irregular::add_options(app, wanted, "a question", "the names of the vertices");
  auto* const input =
      app.add_option("--input", wanted.input, "Read the graph: Matrix Market *.mtx, or lines \"u v\" in *.txt, *.el")
          ->option_text("FILE");
  app.add_option("--expect", wanted.expect, "Expected number of triangles in the file")->needs(input)->option_text("N");
  app.add_option("--vertices", wanted.vertices,
                 "Vertices for each thread of each PE in a ring with a known number of triangles, instead of a file")
      ->excludes(input)
      ->check(CLI::Range(std::uint64_t{1}, most_vertices))
      ->option_text("N  [10000]");
  app.add_option("--degree", wanted.degree,
                 "Number of neighbours of each vertex in the ring, half of them on each side")
      ->excludes(input)
      ->check(CLI::Range(2, 4096))
      ->option_text("N  [16]");
}

}  // namespace triangles
