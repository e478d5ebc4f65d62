// The settings of this room: who writes a simulation's output, and through which buffer. Merged with those of the other
// rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array stage{
    setting{"LULL_STAGE", setting_type::text, "", "",
            "Which processes write a simulation's output: time-partitioning, the processes of the simulation; "
            "dedicated-cores=N, N processes of each node, set aside for it; dedicated-nodes=N, all processes of N "
            "nodes; auto, what the model chooses."},
    setting{"LULL_STAGE_BUFFER", setting_type::size, "1G", "",
            "Maximum bytes of output that one server buffers; its clients have equal shares."},
    setting{"LULL_STAGE_WHEN_FULL", setting_type::choice, "wait", "wait|write-yourself|drop|cheapest",
            "What a process does when its share of the buffer is full: wait until there is room, write the file "
            "itself, or drop the file, which is counted and reported. cheapest: wait or write it itself, whichever has "
            "cost less so far; this is the default if LULL_STAGE is auto."},
    setting{"LULL_STAGE_FSYNC", setting_type::choice, "1", "0|1",
            "Whether a file of one process is flushed to the disk (fsync) before it gets its name. Without it, late "
            "errors of a "
            "network file system may go unnoticed."},
    setting{"LULL_STAGE_CLOSE", setting_type::choice, "go", "go|wait",
            "When MPI_File_close returns for a file that several processes write: at once, while later calls that open "
            "or name the file wait until it is written, or when it is written, so that every other program sees it, "
            "too."},
    setting{"LULL_STAGE_SYNC", setting_type::choice, "wait", "wait|order",
            "When MPI_File_sync returns: when everything is on the disk, or at once, after which the order of writes "
            "still holds for all processes, but a failure of the machine may lose what was not written."},
    setting{"LULL_STAGE_VERIFY", setting_type::text, "", "",
            "Folder that all nodes see, in which processes keep checksums of what they hand over for files that "
            "several processes write. At the end the files are read back and compared; a difference is a line and an "
            "exit code that is not 0."},
    setting{"LULL_STAGE_PYTHON", setting_type::text, "python3", "",
            "Python interpreter that runs plug-ins of a simulation's output; Lull must be installed for it. `lull "
            "stage` sets its own."},
    setting{
        "LULL_STAGE_PACKAGE", setting_type::text, "", "",
        "Folder in which LULL_STAGE_PYTHON finds Lull if it does not find it otherwise. `lull stage` sets its own."},
    setting{"LULL_STAGE_STORAGE_LIMIT", setting_type::size, "0", "",
            "For experiments: maximum bytes per second that all processes of a job on a machine write together, to "
            "imitate slower storage. 0: no limit."},
    setting{"LULL_STAGE_STORAGE_WRITERS", setting_type::real, "0", "0..1000000",
            "For experiments: number of simultaneous writers that together reach half of LULL_STAGE_STORAGE_LIMIT, to "
            "imitate storage on which writers slow each other down. 0: any number reaches all of it."},
    setting{"LULL_STAGE_LOWER_FREQUENCY", setting_type::choice, "1", "0|1",
            "Whether a server that has its own core lowers the core's frequency while there is nothing to write, if "
            "the site permits this."},
    setting{"LULL_STAGE_FIGURES", setting_type::text, "", "",
            "Files, separated by colons, to which the table with the cost of output is written as JSON at the end of a "
            "run."},
    setting{"LULL_STAGE_OBJECTIVE", setting_type::choice, "time", "time|energy|edp",
            "What the model minimizes when it chooses which processes write the output: the time of a run, its energy, "
            "or their product."},
};

}  // namespace lull::settings_of
