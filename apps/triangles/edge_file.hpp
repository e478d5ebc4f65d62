// Undirected graphs in text files: Matrix Market (*.mtx, coordinate, square) or lists of edges (*.txt, *.el: "u v" on
// each line, vertices from 0, comments from #). Every PE reads a share of the lines.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "irregular/input_file.hpp"
#include "irregular/reduction.hpp"
#include "triangles/edge_source.hpp"

namespace triangles {

class edge_file final : public edge_source {
 public:
  explicit edge_file(std::filesystem::path path) : path_(std::move(path)) {}
  void read(const std::function<void(const edge&)>& found) override;

  // Throws an error in the file, or in a line that any PE has read, as a std::runtime_error of one line.
  [[nodiscard]] std::uint64_t vertices(irregular::reduction& all) override;

 private:
  std::filesystem::path path_;
  std::optional<irregular::input_file> file_;
  bool is_matrix_ = false;
  std::uint64_t vertices_said_ = 0, edges_said_ = 0;  // from the header of a matrix
  std::uint64_t edges_ = 0, bound_ = 0;               // in this PE's share: their number, the largest vertex + 1
  std::string mistake_;
};

}  // namespace triangles
