// OTF2's calls, with errors reported as lull::error. Only reader and writer of archives include it.
#pragma once
#include <otf2/otf2.h>

#include <string>

namespace lull::trace {

// OTF2 prints errors to stderr; after this call it does not, and `failed_otf2` reports them.
void quiet_otf2();
// Throws lull::error with OTF2's last error message in this thread.
[[noreturn]] void failed_otf2(const std::string& action, const std::string& fix = {});

// The fix for errors of writing: the processes' records are kept.
inline constexpr const char* make_room =
    "make room on that disk and run lull archive convert with the folder, which still contains the records";

inline void check_otf2(OTF2_ErrorCode code, const std::string& action, const std::string& fix = {}) {
  if (code != OTF2_SUCCESS) failed_otf2(action, fix);
}

}  // namespace lull::trace
