#include "mpi/thread.hpp"

#include <memory>

namespace lull::mpi {

constinit thread_local thread_state* this_thread = nullptr;

void thread_state::forget_handles(std::uint32_t now) noexcept {
  forgotten_seen = now;
  communicators.forget();
  windows.forget();
  type_sizes.forget();
}

thread_state& first_of_this_thread(bool records_calls) {
  struct owner {
    std::unique_ptr<thread_state> state = std::make_unique<thread_state>();
    ~owner() { this_thread = nullptr; }
  };
  thread_local bool had_one = false;
  if (had_one) {
    this_thread = std::make_unique<thread_state>().release();  // a destructor still calls MPI while the thread ends
  } else {
    had_one = true;
    thread_local owner ends_with_the_thread;
    this_thread = ends_with_the_thread.state.get();
  }
  if (records_calls) this_thread->log = &trace::recorder::of_process().log();
  return *this_thread;
}

}  // namespace lull::mpi
