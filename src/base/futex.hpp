// Sleeps on a word of memory until another thread, or another process that maps the word, wakes the sleeper.
//
// A sleeper passes the value that it has seen; if the word has changed, it does not sleep. It may wake up without a
// reason, so it tests again. If all users of a word are threads of one process, the kernel finds them faster.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/clock.hpp"

namespace lull {

enum class futex_users : std::uint8_t { one_process, several_processes };

// Sleeps at most timeout_ns while the word is `seen`. Returns false on time-out. Changes errno.
inline bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t timeout_ns,
                       futex_users users) noexcept {
  const timespec timeout = timespec_of(timeout_ns);
  const int call = users == futex_users::one_process ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
  const long result =
      syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), call, seen, &timeout, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

// Wakes at most `sleepers` threads. Does not access the word: its memory may have been reused.
inline void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers, futex_users users) noexcept {
  const int call = users == futex_users::one_process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
  syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), call, sleepers, nullptr, nullptr, 0);
}

}  // namespace lull
