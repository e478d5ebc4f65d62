// The settings of this room: who writes a simulation's output, and through which buffer. Merged with those of the other
// rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array stage{
    setting{"LULL_STAGE", setting_type::text, "", "",
            "Who writes a simulation's output: time-partitioning, the processes themselves; dedicated-cores=N, N "
            "processes set aside on each node; dedicated-nodes=N, all processes of N nodes; auto: as the model says."},
    setting{"LULL_STAGE_BUFFER", setting_type::size, "1G", "",
            "Bytes of output that one server may have outstanding, shared equally among its clients."},
    setting{
        "LULL_STAGE_WHEN_FULL", setting_type::choice, "wait", "wait|write-yourself|drop|cheapest",
        "What a process does when its share of the buffer is full: wait until there is room, write the file itself, "
        "or drop the file, which is counted and said. cheapest: wait or write it itself, by what either has cost so "
        "far; if LULL_STAGE is auto, that is the default."},
    setting{"LULL_STAGE_FSYNC", setting_type::choice, "1", "0|1",
            "Whether a file is on the disk (fsync) before it gets its name. Without it, what a network file system "
            "refuses late may stay unnoticed."},
    setting{"LULL_STAGE_PYTHON", setting_type::text, "python3", "",
            "The Python that runs plug-ins of a simulation's output; it must have Lull. `lull stage` gives its own."},
    setting{"LULL_STAGE_PACKAGE", setting_type::text, "", "",
            "The folder in which that Python finds Lull, where it does not by itself. `lull stage` gives its own."},
    setting{"LULL_STAGE_STORAGE_LIMIT", setting_type::size, "0", "",
            "For experiments: bytes per second that all processes of a job on a machine write together, at most, as if "
            "their storage were that slow. 0: no limit."},
    setting{"LULL_STAGE_STORAGE_WRITERS", setting_type::real, "0", "0..1000000",
            "For experiments: how many processes that write at a time get half of LULL_STAGE_STORAGE_LIMIT together, "
            "as where they hinder each other. 0: any number gets all of it."},
    setting{
        "LULL_STAGE_LOWER_FREQUENCY", setting_type::choice, "1", "0|1",
        "Whether a server that has a core to itself lowers its frequency while there is nothing to write, where the "
        "site permits."},
    setting{"LULL_STAGE_FIGURES", setting_type::text, "", "",
            "Files for the table that tells at the end of a run what its output has cost, as JSON; several with colons "
            "between."},
    setting{"LULL_STAGE_OBJECTIVE", setting_type::choice, "time", "time|energy|edp",
            "What the model makes least, where it says who should write the output: the time of a run, its energy, or "
            "their product."},
};

}  // namespace lull::settings_of
