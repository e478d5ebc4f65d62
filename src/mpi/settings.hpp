// The settings of this room. base/settings.hpp merges them with those of the other rooms; those of waiting are wait's.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array mpi{
    setting{"LULL_MPI_LOOPS", setting_type::integer, "0", "0..1",
            "1: under LULL_WAIT, an MPI program also waits by the policy in loops of its own that only call MPI_Test, "
            "MPI_Iprobe or the like. A call in such a loop may sleep for a sixteenth of the time that the loop has "
            "taken, for at least 50 microseconds and at most 10 ms; a message ends the sleep."},
    setting{"LULL_MPI_COMPARE", setting_type::integer, "0", "0..60000",
            "For benchmarks: an MPI program under LULL_WAIT alternates between the policy and the library's own "
            "waiting, in epochs of about this many milliseconds; which one an epoch uses is random, and the same on "
            "all ranks. Each rank writes calls, time and CPU time of both to LULL_RECORD, or prints them."},
};

}  // namespace lull::settings_of
