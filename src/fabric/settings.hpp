// The settings of this room: symmetric memory, teams and transfers. Merged with those of the other rooms in
// base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"
#include "fabric/protocol/transforming.hpp"

namespace lull::settings_of {

inline constexpr std::array fabric{
    setting{"SHMEM_SYMMETRIC_SIZE", setting_type::size, "1G", "",
            "Size of the symmetric heap of each PE; memory is used only where it is touched."},
    setting{"LULL_STATIC_DATA", setting_type::choice, "symmetric", "symmetric|private",
            "Whether the program's global and static variables are symmetric, as OpenSHMEM says; private leaves them "
            "where they are, and only the symmetric heap can be reached by other PEs."},
    setting{"LULL_TEAMS", setting_type::integer, "64", "4..65536",
            "Most teams of which one PE can be a member at a time."},
    setting{"LULL_CHECK", setting_type::integer, "0", "0..1",
            "1 looks for mistakes in each call: a PE out of range, an address that is not symmetric, overlapping "
            "arguments, collective calls that do not match. The job ends with a line that names the call."},
    setting{"LULL_TRANSFORM", setting_type::choice, "auto", fabric::transforming_choices,
            "What is rewritten in a program's puts to PEs of other nodes: small ones are coalesced into one message, "
            "the sources of blocking ones copied, so that these return before their bytes have left. auto: where it "
            "pays, by what the program's puts have been like and what messages and copies were measured to cost; on: "
            "always; off: never."},
    setting{"LULL_COALESCE", setting_type::size, "60K", "",
            "Bytes of one message in which small puts to a PE of another node are coalesced; 0 sends each by itself."},
    setting{"LULL_COALESCE_US", setting_type::integer, "1000", "1..1000000",
            "Microseconds after which coalesced puts are sent even if the program neither waits nor calls quiet."},
    setting{
        "LULL_RDMA", setting_type::choice, "auto", "auto|on|off",
        "Whether puts and gets to PEs of other nodes are left to the network, which carries them out while the "
        "target sleeps. auto: where it is known to do so by itself; on: also where UCX does not tell, or emulates it "
        "by messages; off: all go by messages."},
    setting{"LULL_RDMA_BYTES", setting_type::size, "0", "",
            "Bytes from which on they are; 0: from where that was measured to be quicker than a message."},
    setting{"LULL_MAX_OUTSTANDING", setting_type::integer, "1024", "1..1000000",
            "Transfers to one PE on another node that may be under way before the sender waits."},
};

}  // namespace lull::settings_of
