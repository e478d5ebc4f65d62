// OTF2's own calls, with errors as Lull's. Only this room's two sides of an archive include it.
#pragma once
#include <otf2/otf2.h>

#include <string>

namespace lull::trace {

// OTF2 says on stderr what went wrong; from the first call of this on, `failed_otf2` says it instead.
void quiet_otf2();
// Throws lull::error with what OTF2 has said last in this thread.
[[noreturn]] void failed_otf2(const std::string& asked, const std::string& remedy = {});

// For who writes: what the processes recorded is still there.
inline constexpr const char* make_room =
    "make room on that disk and call lull trace convert with the folder: what was recorded is still in it";

inline void check_otf2(OTF2_ErrorCode code, const std::string& asked, const std::string& remedy = {}) {
  if (code != OTF2_SUCCESS) failed_otf2(asked, remedy);
}

}  // namespace lull::trace
