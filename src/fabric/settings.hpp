// The settings of this room: symmetric memory, teams and transfers. Merged with those of the other rooms in
// base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"
#include "fabric/protocol/transforming.hpp"

namespace lull::settings_of {

inline constexpr std::array fabric{
    setting{"SHMEM_SYMMETRIC_SIZE", setting_type::size, "1G", "",
            "Size of the symmetric heap of each PE; only the pages that the program touches take memory."},
    setting{"LULL_STATIC_DATA", setting_type::choice, "symmetric", "symmetric|private",
            "Whether the program's global and static variables are symmetric, as OpenSHMEM specifies; private leaves "
            "them where they are, and other PEs can access only the symmetric heap."},
    setting{"LULL_TEAMS", setting_type::integer, "64", "4..65536",
            "Maximum number of teams of which one PE can be a member at a time."},
    setting{"LULL_CHECK", setting_type::integer, "0", "0..1",
            "1 checks each call for mistakes: a PE out of range, an address that is not symmetric, overlapping "
            "arguments, collective calls that do not match. A mistake ends the job with a line that names the call."},
    setting{"LULL_TRANSFORM", setting_type::choice, "auto", fabric::transforming_choices,
            "Whether Lull rewrites a program's puts to PEs of other nodes: it coalesces small puts into one message, "
            "and copies the sources of blocking puts so that these return before their bytes have left. auto: where it "
            "pays, according to the program's previous puts and the measured costs of messages and copies; on: always, "
            "and atomics that return nothing, too; off: never."},
    setting{"LULL_COALESCE", setting_type::size, "60K", "",
            "Bytes of one message into which small puts to a PE of another node are coalesced; 0 sends each put "
            "separately."},
    setting{"LULL_COALESCE_US", setting_type::integer, "1000", "1..1000000",
            "Microseconds after which coalesced puts are sent even if the program neither waits nor calls quiet."},
    setting{
        "LULL_RDMA", setting_type::choice, "auto", "auto|on|off",
        "Whether the network executes puts and gets to PEs of other nodes by RDMA, while the target sleeps. auto: "
        "if the network is known to do so without the target's CPU, and the symmetric heaps, which are locked for it, "
        "take at most an eighth of the host's memory; on: also if its library does not report this, or emulates it by "
        "messages; off: all use messages."},
    setting{"LULL_RDMA_BYTES", setting_type::size, "0", "",
            "Smallest size in bytes of a put or get that uses RDMA; 0: the size from which RDMA was measured to be "
            "faster than a message."},
    setting{
        "LULL_MAX_OUTSTANDING", setting_type::integer, "1024", "1..1000000",
        "Maximum number of outstanding transfers to one PE on another node; the sender waits before it starts more."},
};

}  // namespace lull::settings_of
