// Of many processes that have the same to say, one says it.
#pragma once
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

namespace lull::mpi {

// Whether this process reports: the first rank does, by the variables of its launcher, and any process without a launcher.
inline bool is_reporter() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = getenv(variable)) return strcmp(rank, "0") == 0;
  return true;
}

}  // namespace lull::mpi
