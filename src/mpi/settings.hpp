// The settings of this room. base/settings.hpp merges them with those of the other rooms; those of waiting are wait's.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array mpi{
    setting{"LULL_MPI_COMPARE", setting_type::integer, "0", "0..60000",
            "For benchmarks: an MPI program under LULL_WAIT alternates between the policy and the library's own "
            "waiting, in epochs of about this many milliseconds; which one an epoch uses is random, and the same on "
            "all ranks. Each rank writes calls, time and CPU time of both to LULL_RECORD, or prints them."},
};

}  // namespace lull::settings_of
