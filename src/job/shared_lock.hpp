// A lock in memory that processes share. If its holder dies, the next process gets it, and the holder's data may be half
// changed: users change it so that this is harmless.
#pragma once
#include <pthread.h>

#include <cerrno>
#include <utility>

namespace lull::job {

class shared_lock {
 public:
  // Once, by the owner of the memory, before its first use.
  void open() {
    abandoned_ = false;
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &shared);
    pthread_mutexattr_destroy(&shared);
  }
  void lock() { (void)has(pthread_mutex_lock(&mutex_)); }
  [[nodiscard]] bool try_lock() { return has(pthread_mutex_trylock(&mutex_)); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  // With the lock: whether a holder has died since the last call.
  [[nodiscard]] bool was_abandoned() { return std::exchange(abandoned_, false); }

 private:
  bool has(int result) {
    if (result == EOWNERDEAD) [[unlikely]] {
      pthread_mutex_consistent(&mutex_);
      abandoned_ = true;
    }
    return result == 0 || result == EOWNERDEAD;
  }

  pthread_mutex_t mutex_;
  bool abandoned_ = false;
};

}  // namespace lull::job
