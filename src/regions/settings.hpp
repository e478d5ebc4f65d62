// The settings of this room, for regions and metrics. base/settings.hpp merges them with those of the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array regions{
    setting{"LULL_RECORD", setting_type::text, "", "",
            "Folder where a program leaves its regions and metrics; lull measure sets it."},
};

}  // namespace lull::settings_of
