// The settings of this room: the processes of a job and their nodes. base/settings.hpp merges them with those of the
// other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array job{
    setting{"LULL_NODES", setting_type::integer, "1", "1..4096",
            "Emulated nodes: the PEs of one host are split into so many groups that only talk through UCX."},
    setting{"LULL_NODE_TIMEOUT_S", setting_type::real, "60", "0.2..3600",
            "Seconds that lull measure, started by a launcher, waits for a rank or a node of its job of which it hears "
            "nothing; and a rank under LULL_STAGE for those that do not say what they write."},
    setting{"LULL_HOSTS", setting_type::text, "", "", "The virtual hosts for lull run --hosts; lull hosts sets it."},
};

}  // namespace lull::settings_of
