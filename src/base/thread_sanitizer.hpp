// Order that ThreadSanitizer cannot see, because it arises through other processes, or through a second address of the
// same memory (the executable's static variables have two). Empty in other builds.
//
// A PE writes, notifies a neighbour through shared memory, and another thread here applies a resulting message. Each
// step is ordered, but two of them happen in a process that ThreadSanitizer does not see here. Code that publishes
// something to other PEs therefore calls tsan_release(), and code that has received something from them calls
// tsan_acquire(); everything before the former then counts as earlier than everything after the latter.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define LULL_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LULL_THREAD_SANITIZER
#endif
#endif

#ifdef LULL_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace lull {

#ifdef LULL_THREAD_SANITIZER
inline char other_processes;  // represents all of them
inline void tsan_release() noexcept { __tsan_release(&other_processes); }
inline void tsan_acquire() noexcept { __tsan_acquire(&other_processes); }
#else
inline void tsan_release() noexcept {}
inline void tsan_acquire() noexcept {}
#endif

}  // namespace lull
