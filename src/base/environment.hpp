// Variables of the environment, which other programs or the user have set.
//
// This is the only place that reads them, also for settings.cpp, which knows Lull's own; a test looks for others. Read them
// before threads start: a program may change them. Nothing is allocated and no C++ library is needed, so that preloaded
// libraries may call this before a program begins.
#pragma once
#include <stdlib.h>

namespace lull {

// Null where it is not there. The text is the environment's own.
[[nodiscard]] inline const char* variable_of_environment(const char* name) noexcept {
  return getenv(name);  // NOLINT(concurrency-mt-unsafe): see above
}
// Null also where it is empty.
[[nodiscard]] inline const char* text_of_environment(const char* name) noexcept {
  const char* const text = variable_of_environment(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

}  // namespace lull
