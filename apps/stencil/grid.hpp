// The cells of the plane, distributed over processes in two dimensions: each process has a rectangle of whole columns
// of air. The plane is periodic: what leaves on one side enters on the other.
#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

namespace stencil {

class grid {
 public:
  // Collective. `cells`: per process, or in total with `of_all`. Throws usage_error on all processes if they cannot be
  // distributed equally.
  grid(std::array<int, 3> cells, bool of_all);
  ~grid();
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int processes() const { return processes_[0] * processes_[1]; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::array<int, 3> cells() const { return cells_; }  // of this process
  [[nodiscard]] std::array<int, 2> origin() const { return {place_[0] * cells_[0], place_[1] * cells_[1]}; }
  [[nodiscard]] std::array<int, 3> all_cells() const {
    return {processes_[0] * cells_[0], processes_[1] * cells_[1], cells_[2]};
  }

  // Sizes of one quantity: its cells and, around them in x and y, one row of the neighbours' cells.
  [[nodiscard]] std::size_t row() const { return static_cast<std::size_t>(cells_[0]) + 2; }
  [[nodiscard]] std::size_t layer() const { return row() * (static_cast<std::size_t>(cells_[1]) + 2); }
  [[nodiscard]] std::size_t volume() const { return layer() * static_cast<std::size_t>(cells_[2]); }
  [[nodiscard]] std::size_t at(int x, int y, int z) const {  // -1 and cells() are the neighbours' cells
    return static_cast<std::size_t>(z) * layer() + static_cast<std::size_t>(y + 1) * row() +
           static_cast<std::size_t>(x + 1);
  }

  // Updates the neighbours' rows, in one message per neighbour for all quantities.
  void exchange(std::vector<std::vector<float>>& quantities);

 private:
  void exchange_along(int axis, std::vector<std::vector<float>>& quantities);

  std::array<int, 3> cells_;
  std::array<int, 2> processes_{}, place_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::array<std::vector<float>, 4> messages_;  // to and from both sides
};

}  // namespace stencil
