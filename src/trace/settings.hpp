// The settings of this room: where a traced program writes, and how much. base/settings.hpp merges them with those of
// the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array trace{
    setting{"LULL_TRACE", setting_type::text, "", "",
            "Folder into which a program's calls are recorded; lull trace sets it."},
    setting{"LULL_TRACE_LIMIT", setting_type::size, "1G", "",
            "The most that one process records, at 32 bytes a call; later calls are counted and not kept."},
};

}  // namespace lull::settings_of
