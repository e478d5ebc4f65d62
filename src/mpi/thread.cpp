#include "mpi/thread.hpp"

#include <memory>

namespace lull::mpi {

constinit thread_local thread_state* this_thread = nullptr;

thread_state& first_of_this_thread() {
  struct owner {
    std::unique_ptr<thread_state> state = std::make_unique<thread_state>();
    ~owner() { this_thread = nullptr; }
  };
  thread_local bool had_one = false;
  if (had_one) return *(this_thread = new thread_state);  // the thread is ending, and some destructor calls MPI still
  had_one = true;
  thread_local owner ends_with_the_thread;
  return *(this_thread = ends_with_the_thread.state.get());
}

}  // namespace lull::mpi
