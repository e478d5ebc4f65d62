#include <array>

#include "mpi/waiting/port.hpp"

namespace lull::mpi {

extern const port any, intel, mpich, openmpi4, openmpi5, over_ucx;

std::span<const port* const> all_ports() {
  static constexpr std::array rows{
      &intel,    &mpich, &over_ucx,  // before Open MPI: with it, it applies only if pml ucx has been chosen
#ifdef LULL_OPENMPI_INTERNALS
      &openmpi4,
#endif
      &openmpi5, &any,
  };
  return rows;
}

}  // namespace lull::mpi
