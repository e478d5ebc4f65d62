// The exchange of data between the processes of a communicator, by the program's MPI. All calls are collective.
#pragma once
#include "mpi/roles/world.hpp"
#include "stage/link/exchange.hpp"

namespace lull::mpi {

class mpi_exchange final : public stage::exchange {
 public:
  explicit mpi_exchange(MPI_Comm comm);  // collective

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string node() const override { return node_; }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override;

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::string node_;
};

}  // namespace lull::mpi
