// The functions of MPI, with the numbers of src/mpi/interface/mpi.toml, which the front, the flavours and traces use.
#pragma once
#include <cstdint>

namespace lull::mpi {

enum class function : std::uint16_t {
#define LULL_MPI_FUNCTION(name) name,
#include "functions.inc"
#undef LULL_MPI_FUNCTION
  count
};

inline constexpr const char* function_names[] = {
#define LULL_MPI_FUNCTION(name) #name,
#include "functions.inc"
#undef LULL_MPI_FUNCTION
};

inline constexpr unsigned function_count = static_cast<unsigned>(function::count);

}  // namespace lull::mpi
