// The settings of this room: wait policies and their statistics. base/settings.hpp merges them with those of other
// rooms.
#pragma once
#include <array>

#include "base/settings.hpp"
#include "wait/policies.hpp"

namespace lull::settings_of {

inline constexpr std::array wait{
    setting{
        "LULL_WAIT", setting_type::choice, "interrupt", wait::wait_policy_choices,
        "How a PE waits, and the ranks of an MPI program under lull attach: poll spins until the data is there; "
        "interrupt spins about the price of a wake-up and then sleeps; +dvfs lowers the core's frequency meanwhile; "
        "adaptive sleeps until shortly before the end that it predicts."},
    setting{"LULL_WAIT_THRESHOLD", setting_type::size, "16K", "",
            "Bytes from which a transfer's wait may be taken to be long: below, adaptive waits like interrupt, +dvfs "
            "leaves the frequency alone, and traffic begins interrupt's spin anew also after a sleep."},
    setting{"LULL_WAIT_SPIN_US", setting_type::integer, "50", "0..1000000",
            "Microseconds that interrupt spins before it sleeps, while PEs do not outnumber cores."},
    setting{"LULL_WAIT_YIELDS", setting_type::integer, "20", "0..1000000",
            "Times that interrupt yields the core before it sleeps, when PEs outnumber cores (it does not spin then)."},
    setting{
        "LULL_WAIT_TIMEOUT_MS", setting_type::integer, "100", "1..10000",
        "Longest sleep in milliseconds before a sleeper looks again by itself, in an MPI program at most 10; each such "
        "time-out is counted."},
    setting{
        "LULL_STATS", setting_type::choice, "0", "0|1|pe",
        "What waiting has cost, printed by PE 0 at shmem_finalize by operation and size, or by the last MPI rank of a "
        "node at MPI_Finalize by operation and call site: 1 sums over all PEs, pe adds a line for each PE. Under lull "
        "measure it is in the record, too."},
    setting{"LULL_SYSROOT", setting_type::text, "/", "",
            "Folder below which the files of cpufreq are looked for, for trying them on a copy of /sys."},
};

}  // namespace lull::settings_of
