// What ThreadSanitizer cannot see: order that comes about through other processes, or through a second address of the
// same memory (the executable's static variables have two). Nothing in other builds.
//
// A PE writes, tells a neighbour through shared memory, and a message that follows from it is applied here by another
// thread: each step is ordered, but two of them happen in a process of which ThreadSanitizer of this one knows nothing.
// So whoever makes something known to other PEs calls tsan_release(), and whoever has learnt something of them calls
// tsan_acquire(); what came before the one then counts as earlier than what comes after the other.
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
inline char other_processes;  // stands for all of them
inline void tsan_release() noexcept { __tsan_release(&other_processes); }
inline void tsan_acquire() noexcept { __tsan_acquire(&other_processes); }
#else
inline void tsan_release() noexcept {}
inline void tsan_acquire() noexcept {}
#endif

}  // namespace lull
