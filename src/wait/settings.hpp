// The settings of this room: wait policies and their statistics. base/settings.hpp merges them with those of other
// rooms.
#pragma once
#include <array>

#include "base/settings.hpp"
#include "wait/policies.hpp"

namespace lull::settings_of {

inline constexpr std::array wait{
    setting{"LULL_WAIT", setting_type::choice, "interrupt", wait::wait_policy_choices,
            "How PEs wait, and the ranks of an MPI program under lull wait: poll spins until the data has arrived; "
            "interrupt spins for about the cost of a wake-up and then sleeps; +dvfs also lowers the core's frequency "
            "while waiting; adaptive sleeps until shortly before the predicted end."},
    setting{"LULL_WAIT_THRESHOLD", setting_type::size, "16K", "",
            "Smallest transfer in bytes whose wait can count as long. For smaller ones, adaptive waits like interrupt, "
            "+dvfs does not change the frequency, and traffic restarts interrupt's spin even after a sleep."},
    setting{"LULL_WAIT_SPIN_US", setting_type::integer, "50", "0..1000000",
            "Microseconds that interrupt spins before it sleeps, unless there are more PEs than cores."},
    setting{"LULL_WAIT_YIELDS", setting_type::integer, "20", "0..1000000",
            "Number of times that interrupt yields the core before it sleeps if there are more PEs than cores; it does "
            "not spin then."},
    setting{"LULL_WAIT_TIMEOUT_MS", setting_type::integer, "100", "1..10000",
            "Longest sleep in milliseconds, after which a sleeper checks for data without a wake-up; at most 10 in an "
            "MPI program. Each such time-out is counted."},
    setting{"LULL_STATS", setting_type::choice, "0", "0|1|pe",
            "Whether the cost of waiting is printed: by operation and size, by PE 0 at shmem_finalize, or by operation "
            "and call site, by the last MPI rank of a node at MPI_Finalize. 1 prints sums over all PEs, pe adds a line "
            "for each PE. Under lull measure the record contains it, too."},
    setting{"LULL_SYSROOT", setting_type::text, "/", "",
            "Folder that contains /sys with the files of cpufreq, to test with a copy."},
};

}  // namespace lull::settings_of
