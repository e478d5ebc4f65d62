// The settings of this room: who writes a simulation's output, and through which buffer. Merged with those of the other
// rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array stage{
    setting{"LULL_STAGE", setting_type::text, "", "",
            "Who writes a simulation's output: time-partitioning, the processes themselves; dedicated-cores=N, N "
            "processes set aside on each node; dedicated-nodes=N, all processes of N nodes."},
    setting{"LULL_STAGE_BUFFER", setting_type::size, "1G", "",
            "Bytes of output that one server may have outstanding, shared equally among its clients."},
    setting{
        "LULL_STAGE_WHEN_FULL", setting_type::choice, "wait", "wait|write-yourself|drop",
        "What a process does when its share of the buffer is full: wait until there is room, write the file itself, "
        "or drop the file, which is counted and said."},
    setting{"LULL_STAGE_FSYNC", setting_type::choice, "1", "0|1",
            "Whether a file is on the disk (fsync) before it gets its name. Without it, what a network file system "
            "refuses late may stay unnoticed."},
    setting{"LULL_STAGE_PYTHON", setting_type::text, "python3", "",
            "The Python that runs plug-ins of a simulation's output; it must have Lull. `lull stage` gives its own."},
};

}  // namespace lull::settings_of
