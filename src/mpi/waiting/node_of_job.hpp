// Which ranks share a node, according to the launcher, without a call of MPI: not all ranks have to take part.
#pragma once
#include <string>

namespace lull::mpi {

struct node_of_job {
  int ranks = 0;     // of this job on this node; 0: the launcher does not say
  std::string name;  // the same for all of them, and for no other process of this machine; starts with '/'
};
// `rank` and `ranks`: in MPI_COMM_WORLD.
[[nodiscard]] node_of_job find_node_of_job(int rank, int ranks);

}  // namespace lull::mpi
