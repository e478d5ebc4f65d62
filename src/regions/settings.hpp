// The settings of this room: where a program leaves its regions. Merged with those of the other rooms in
// base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array regions{
    setting{"LULL_RECORD", setting_type::text, "", "",
            "Folder where a program leaves its regions and metrics; lull measure sets it."},
};

}  // namespace lull::settings_of
