#include "mpi/roles/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/settings.hpp"
#include "job/layout.hpp"

namespace lull::mpi {
namespace {

// The node of this process: the lowest rank on its host, and its block if LULL_NODES divides hosts.
std::string node_in(MPI_Comm comm, int rank) {
  MPI_Comm host = predefined.comm_null;
  LULL_LIBRARY(MPI_Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, rank, predefined.info_null, &host);
  int position = 0, ranks = 1, lowest = rank;
  LULL_LIBRARY(MPI_Comm_rank)(host, &position);
  LULL_LIBRARY(MPI_Comm_size)(host, &ranks);
  LULL_LIBRARY(MPI_Bcast)(&lowest, sizeof lowest, predefined.byte, 0, host);
  LULL_LIBRARY(MPI_Comm_free)(&host);
  const int blocks = std::min(static_cast<int>(setting_integer("LULL_NODES")), ranks);
  return fmt::format("{}.{}", lowest, job::block_of(position, ranks, blocks));
}

}  // namespace

mpi_exchange::mpi_exchange(MPI_Comm comm) : comm_(comm) {
  LULL_LIBRARY(MPI_Comm_rank)(comm, &rank_);
  LULL_LIBRARY(MPI_Comm_size)(comm, &size_);
  node_ = node_in(comm, rank_);
}

std::vector<std::vector<std::byte>> mpi_exchange::all(std::span<const std::byte> mine) {
  const auto many = static_cast<std::size_t>(size_);
  const int bytes = static_cast<int>(mine.size());
  std::vector<int> sizes(many), offsets(many);
  LULL_LIBRARY(MPI_Allgather)
  (&bytes, sizeof bytes, predefined.byte, sizes.data(), sizeof bytes, predefined.byte, comm_);
  int total = 0;
  for (std::size_t i = 0; i < many; ++i) {
    offsets[i] = total;
    total += sizes[i];
  }
  std::vector<std::byte> received(static_cast<std::size_t>(total));
  LULL_LIBRARY(MPI_Allgatherv)
  (mine.data(), bytes, predefined.byte, received.data(), sizes.data(), offsets.data(), predefined.byte, comm_);
  std::vector<std::vector<std::byte>> by_rank;
  for (std::size_t i = 0; i < many; ++i)
    by_rank.emplace_back(received.begin() + offsets[i], received.begin() + offsets[i] + sizes[i]);
  return by_rank;
}

}  // namespace lull::mpi
