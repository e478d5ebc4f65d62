// The settings of this room. base/settings.hpp merges them with those of the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array model{
    setting{"LULL_MACHINE", setting_type::text, "auto", "",
            "What choosers assume about this machine before they have measured: auto uses the results of lull "
            "calibrate for this host, if there are any; builtin uses the constants that come with Lull; or the path of "
            "a machine.toml."},
    setting{"LULL_CHOOSE", setting_type::choice, "auto", "auto|off",
            "How the runtime makes the choices that no setting fixes: auto uses the model's prediction for this "
            "machine, corrected by the job's own measurements; off uses only the prediction, measures nothing and "
            "never changes a choice."},
};

}  // namespace lull::settings_of
