#include "interpreter_lock.hpp"

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace lull::python {
namespace {

std::atomic<bool> ending = false;
std::atomic<pthread_t> ends_it;    // the thread that ends the interpreter, which may take the lock until the end
std::atomic<int> taking_lock = 0;  // threads that saw the interpreter alive and do not have the lock yet

// Announces this thread, which may then take the lock. After the end of the interpreter it never returns.
void announce() {
  taking_lock.fetch_add(1);
  if (!ending.load() || pthread_equal(ends_it.load(), pthread_self()) != 0) return;
  taking_lock.fetch_sub(1);
  for (;;) pause();
}

// Runs before the interpreter begins to end: announced threads get the lock first.
void end() {
  ends_it = pthread_self();
  ending = true;
  // Objects held by threads that are left behind are no leaks.
  const auto frames = nanobind::cast<nanobind::dict>(nanobind::module_::import_("sys").attr("_current_frames")());
  const bool has_one = frames.contains(nanobind::int_(PyThread_get_thread_ident()));  // atexit calls this without one
  if (frames.size() > (has_one ? 1 : 0)) nanobind::set_leak_warnings(false);
  PyThreadState* const state = PyEval_SaveThread();
  while (taking_lock.load() != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  PyEval_RestoreThread(state);
}

}  // namespace

unlocked::unlocked() : state_(PyEval_SaveThread()) {}

unlocked::~unlocked() {
  announce();
  PyEval_RestoreThread(state_);
  taking_lock.fetch_sub(1);
}

locked::locked() {
  announce();
  state_ = PyGILState_Ensure();
  taking_lock.fetch_sub(1);
}

locked::~locked() { PyGILState_Release(state_); }

void notice_the_end() {
  // A forked child does not have the other threads.
  pthread_atfork(nullptr, nullptr, [] { taking_lock = 0; });
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(end));
}

}  // namespace lull::python
