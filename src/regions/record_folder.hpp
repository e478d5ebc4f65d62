// The folder in which a process leaves what belongs into the record of its run (LULL_RECORD): files that appear whole.
#pragma once
#include <string>

namespace lull::regions {

// This host's name, as records have it.
[[nodiscard]] std::string host_of_record();

// FOLDER/KIND-HOST-PID: what the files of this process are called, up to their ending.
[[nodiscard]] std::string path_of_process(const std::string& folder, const std::string& kind);

// Writes `text` as FOLDER/KIND-HOST-PID.json, aside and then renamed: nobody ever sees half a file under that name.
// 0 or errno.
[[nodiscard]] int leave(const std::string& folder, const std::string& kind, const std::string& text);
// The same in LULL_RECORD, if that is set. Where it fails a line on stderr says that `what` could not be written.
void leave_in_record(const char* what, const std::string& kind, const std::string& text);

}  // namespace lull::regions
