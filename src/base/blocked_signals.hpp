// Blocks all signals in this thread, and in those that it starts, during the object's lifetime: signals belong to the
// program, and must reach its threads.
#pragma once
#include <signal.h>

namespace lull {

class blocked_signals {
 public:
  blocked_signals() : before_{} {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace lull
