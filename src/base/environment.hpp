// Variables of the environment, which other programs or the user have set.
//
// All code reads them here, including settings.cpp for Lull's own, and a test enforces this. Read them before threads
// start, because a program may change them. The functions allocate nothing and need no C++ library, so that preloaded
// libraries may call them before a program begins.
#pragma once
#include <stdlib.h>

namespace lull {

// Null if the variable is not set. The text belongs to the environment.
[[nodiscard]] inline const char* variable_of_environment(const char* name) noexcept {
  return getenv(name);  // NOLINT(concurrency-mt-unsafe): see above
}
// Also null if the variable is empty.
[[nodiscard]] inline const char* text_of_environment(const char* name) noexcept {
  const char* const text = variable_of_environment(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

}  // namespace lull
