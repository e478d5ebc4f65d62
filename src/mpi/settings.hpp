// The settings of this room. base/settings.hpp merges them with those of the other rooms; those of waiting are wait's.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array mpi{
    setting{
        "LULL_MPI_LOOPS", setting_type::choice, "none", "none|program|all",
        "Loops of MPI_Test, MPI_Iprobe or the like, in which an MPI program under LULL_WAIT also waits by the policy. "
        "program: loops of its own that only call such a function; a call may then sleep for a sixteenth of the time "
        "that the loop has taken, for at least 50 microseconds and at most 10 ms; a message ends the sleep. all: also "
        "MPI_Recv, MPI_Send, MPI_Ssend, MPI_Probe, MPI_Mprobe and MPI_Wait with its variants, which Lull then performs "
        "by such a loop; for libraries whose waiting loop it does not see."},
    setting{"LULL_MPI_COMPARE", setting_type::integer, "0", "0..60000",
            "For benchmarks: an MPI program under LULL_WAIT alternates between the policy and the library's own "
            "waiting, in epochs of about this many milliseconds; which one an epoch uses is random, and the same on "
            "all ranks. Each rank writes calls, time and CPU time of both to LULL_RECORD, or prints them."},
};

}  // namespace lull::settings_of
