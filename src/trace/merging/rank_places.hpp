// Where a process is among the ranks that the parameters of its calls may refer to. Writer and reader of a merged trace
// derive it from the same definitions. A number that was used for several communicators means the last of them: laws
// only have to be the same on both sides.
#pragma once
#include "trace/merging/log_classes.hpp"
#include "trace/recording/raw_folder.hpp"

namespace lull::trace::merging {

[[nodiscard]] places places_of(const raw_process& recording);

}  // namespace lull::trace::merging
