// The settings of this room. base/settings.hpp merges them with those of the other rooms; those of waiting are wait's.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array mpi{
    setting{
        "LULL_MPI_COMPARE", setting_type::integer, "0", "0..60000",
        "For benchmarks: an MPI program under LULL_WAIT uses the policy and the library's own waiting in turn, in "
        "epochs of about so many milliseconds, by chance and the same on all ranks, and each rank leaves calls, time "
        "and CPU time of both in LULL_RECORD (or prints them)."},
};

}  // namespace lull::settings_of
