// Files that a process writes into the folder LULL_RECORD, for the record of its run. A file appears there only when it
// is complete.
#pragma once
#include <string>

namespace lull::regions {

// This host's name, as records have it.
[[nodiscard]] std::string host_of_record();

// FOLDER/KIND-HOST-PID: the names of this process's files without their ending.
[[nodiscard]] std::string path_of_process(const std::string& folder, const std::string& kind);

// Writes `text` to a temporary file and renames it to FOLDER/KIND-HOST-PID.json. Returns 0 or an errno.
[[nodiscard]] int leave(const std::string& folder, const std::string& kind, const std::string& text);
// The same in LULL_RECORD, if that is set. A failure is one line on stderr: `what` could not be written.
void leave_in_record(const char* what, const std::string& kind, const std::string& text);

}  // namespace lull::regions
