// The settings of this room: the processes of a job and their nodes. base/settings.hpp merges them with those of the
// other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array job{
    setting{"LULL_NODES", setting_type::integer, "1", "1..4096",
            "Number of emulated nodes: the PEs of one host are split into this many groups, which communicate only "
            "through UCX."},
    setting{"LULL_NODE_TIMEOUT_S", setting_type::real, "60", "0.2..3600",
            "Seconds that lull measure, started by a launcher, waits for a rank or node of its job that does not "
            "report; and that a rank under LULL_STAGE waits for ranks that have not joined."},
    setting{"LULL_CONFIG", setting_type::text, "", "",
            "File of settings that the command lull reads instead of /etc/lull.toml and ~/.config/lull.toml. If the "
            "variable is set and empty, it reads none."},
    setting{"LULL_HOSTS", setting_type::text, "", "", "Virtual hosts for lull run --hosts; lull hosts sets it."},
};

}  // namespace lull::settings_of
