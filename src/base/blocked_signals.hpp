// All signals are blocked in this thread, and in those it starts, as long as the object lives: signals are the program's, and
// must reach its own threads.
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
