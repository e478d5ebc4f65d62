// The settings of this room: where a traced program writes, and how much. base/settings.hpp merges them with those of
// the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array trace{
    setting{"LULL_TRACE", setting_type::text, "", "",
            "Folder in which a program's calls are recorded; lull trace sets it."},
    setting{"LULL_TRACE_LIMIT", setting_type::size, "1G", "",
            "Maximum size of the records of one process, at 32 bytes per call; later calls are only counted."},
    setting{"LULL_TRACE_FORM", setting_type::choice, "raw", "raw|folded",
            "How calls are recorded: raw, 32 bytes for each; or folded, where calls that repeat take only the bytes of "
            "their times."},
};

}  // namespace lull::settings_of
