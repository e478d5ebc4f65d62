// MPI's handles and statuses in the form of one library. All sources that include this are compiled once for each
// library, with its mpi.h, and linked with none: reals.hpp provides the functions, and the handles that are addresses
// of variables in the library.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <type_traits>

#include "mpi/reals.hpp"

namespace lull::mpi {

// The predefined handles that are needed here; attach.cpp fills in those that are not numbers.
struct predefined_handles {
  MPI_Comm comm_world, comm_self, comm_null;
  MPI_Request request_null;
  MPI_Datatype datatype_null, byte;
  MPI_Group group_null;
  MPI_Info info_null;
};

#if defined(OPEN_MPI)
inline predefined_handles predefined{};
#elif defined(LULL_MPI_ABI)  // numbers in the form of pointers
inline const predefined_handles predefined{MPI_COMM_WORLD,    MPI_COMM_SELF, MPI_COMM_NULL,  MPI_REQUEST_NULL,
                                           MPI_DATATYPE_NULL, MPI_BYTE,      MPI_GROUP_NULL, MPI_INFO_NULL};
#else
inline constexpr predefined_handles predefined{MPI_COMM_WORLD,    MPI_COMM_SELF, MPI_COMM_NULL,  MPI_REQUEST_NULL,
                                               MPI_DATATYPE_NULL, MPI_BYTE,      MPI_GROUP_NULL, MPI_INFO_NULL};
#endif

// A handle as a number: an int in MPICH, a pointer in other flavours.
template <class Handle>
[[nodiscard]] std::uintptr_t bits_of(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

// The number of bytes that a receive has got.
[[nodiscard]] inline std::uint64_t bytes_of(const MPI_Status& status) noexcept {
#if defined(OPEN_MPI)
  return status._ucount;
#elif defined(LULL_MPI_ABI)  // each library has a different layout
  MPI_Count bytes = 0;
  LULL_REAL(MPI_Get_count_c)(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
#else
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1) << 32 |
         static_cast<std::uint32_t>(status.count_lo);
#endif
}

// Bytes of a predefined type, if its handle contains them; 0: query the library.
[[nodiscard]] inline std::uint64_t bytes_in_handle([[maybe_unused]] MPI_Datatype type) noexcept {
#if defined(OPEN_MPI) || defined(LULL_MPI_ABI)
  return 0;
#else
  constexpr std::uint32_t predefined_type = 0x4c000000;
  const auto bits = static_cast<std::uint32_t>(type);
  return (bits & 0xff000000) == predefined_type ? bits >> 8 & 0xff : 0;
#endif
}

}  // namespace lull::mpi
