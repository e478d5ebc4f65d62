// The folder in which a process leaves what belongs into the record of its run (LULL_RECORD): files that appear whole.
#pragma once
#include <string>

namespace lull::regions {

[[nodiscard]] std::string host_name();

// Writes `text` as FOLDER/KIND-HOST-PID.json, aside and then renamed: nobody ever sees half a file under that name.
// 0 or errno.
[[nodiscard]] int leave(const std::string& folder, const std::string& kind, const std::string& text);

}  // namespace lull::regions
