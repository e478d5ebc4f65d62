#include "grid.hpp"

#include <string>

#include "options.hpp"

namespace stencil {
namespace {

// Calls visit(place) for the cells of one side: x (axis 0) or y (axis 1) is `at`; the other and z vary.
template <class Visit>
void over_side(const grid& of, int axis, int at, Visit&& visit) {
  const auto cells = of.cells();
  const int length = axis == 0 ? cells[1] : cells[0];
  for (int z = 0; z < cells[2]; ++z)
    for (int i = 0; i < length; ++i) visit(axis == 0 ? of.at(at, i, z) : of.at(i, at, z));
}

void pack(const grid& of, int axis, int at, const std::vector<std::vector<float>>& quantities,
          std::vector<float>& into) {
  into.clear();
  for (const std::vector<float>& quantity : quantities)
    over_side(of, axis, at, [&](std::size_t place) { into.push_back(quantity[place]); });
}

void unpack(const grid& of, int axis, int at, const std::vector<float>& from,
            std::vector<std::vector<float>>& quantities) {
  const float* next = from.data();
  for (std::vector<float>& quantity : quantities)
    over_side(of, axis, at, [&](std::size_t place) { quantity[place] = *next++; });
}

}  // namespace

grid::grid(std::array<int, 3> cells, bool of_all) : cells_(cells) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, processes_.data());
  for (std::size_t axis = 0; of_all && axis < processes_.size(); ++axis) {
    cells_[axis] = cells[axis] / processes_[axis];
    if (cells_[axis] * processes_[axis] == cells[axis] && cells_[axis] >= 2) continue;
    throw usage_error("--all-cells " + std::to_string(cells[0]) + " " + std::to_string(cells[1]) +
                      " cannot be distributed over " + std::to_string(processes_[0]) + " x " +
                      std::to_string(processes_[1]) +
                      " processes with at least 2 cells each; choose multiples of these numbers");
  }
  const std::array<int, 2> without_border{1, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, processes_.data(), without_border.data(), 0, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Cart_coords(comm_, rank_, 2, place_.data());
}

grid::~grid() { MPI_Comm_free(&comm_); }

void grid::exchange(std::vector<std::vector<float>>& quantities) {
  exchange_along(0, quantities);
  exchange_along(1, quantities);
}

void grid::exchange_along(int axis, std::vector<std::vector<float>>& quantities) {
  int before = 0, behind = 0;
  MPI_Cart_shift(comm_, axis, 1, &before, &behind);
  const int last = cells_[static_cast<std::size_t>(axis)] - 1;
  auto& [to_before, to_behind, from_before, from_behind] = messages_;
  pack(*this, axis, 0, quantities, to_before);
  pack(*this, axis, last, quantities, to_behind);
  from_before.resize(to_before.size());
  from_behind.resize(to_behind.size());
  const int count = static_cast<int>(to_before.size());
  std::array<MPI_Request, 4> requests{};
  MPI_Irecv(from_before.data(), count, MPI_FLOAT, before, axis, comm_, &requests[0]);
  MPI_Irecv(from_behind.data(), count, MPI_FLOAT, behind, axis + 2, comm_, &requests[1]);
  MPI_Isend(to_behind.data(), count, MPI_FLOAT, behind, axis, comm_, &requests[2]);
  MPI_Isend(to_before.data(), count, MPI_FLOAT, before, axis + 2, comm_, &requests[3]);
  MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  unpack(*this, axis, -1, from_before, quantities);
  unpack(*this, axis, last + 1, from_behind, quantities);
}

}  // namespace stencil
