// The settings of this room, which turn messages on. base/settings.hpp merges them with those of the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array shmem{
    setting{"SHMEM_VERSION", setting_type::text, "", "",
            "Any value: PE 0 prints the version of the library and of OpenSHMEM at shmem_init."},
    setting{"SHMEM_INFO", setting_type::text, "", "",
            "Any value: PE 0 prints the environment variables of OpenSHMEM and their meaning at shmem_init."},
    setting{"SHMEM_DEBUG", setting_type::text, "", "",
            "Any value: each PE prints where it runs at shmem_init, how it has waited at shmem_finalize, and why an "
            "allocation failed."},
};

}  // namespace lull::settings_of
