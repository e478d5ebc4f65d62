// The settings of this room. base/settings.hpp merges them with those of the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array model{
    setting{"LULL_MACHINE", setting_type::text, "auto", "",
            "What choosers know of this machine before they have measured: auto takes what lull calibrate has kept for "
            "this host, if anything; builtin the constants that come with Lull; or a machine.toml."},
    setting{
        "LULL_CHOOSE", setting_type::choice, "auto", "auto|off",
        "How the runtime chooses what is not set: auto by what the model predicts of this machine, corrected by what "
        "the job measures; off by the prediction alone: nothing is measured, and each choice stays."},
};

}  // namespace lull::settings_of
