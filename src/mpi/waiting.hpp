// Waits of an unmodified MPI program under Lull's policies: what the wrappers of blocking calls do.
//
//   start_waiting(library, front);     after MPI_Init has returned, if LULL_WAIT is set
//   wait_scope waits("MPI_Recv", __builtin_return_address(0), comm, source, count);   around each call that may block
//   poll_scope poll("MPI_Test", __builtin_return_address(0));                         before each non-blocking query
//   poll.over(found_nothing);                                                         after it
//   end_waiting();                     before MPI_Finalize is called
//
// The library's algorithms are unchanged. A scope records the current call of this thread; the code that acts on it
// replaces the library's idle loop (waiting/idle_loop.cpp) and does nothing in the first microseconds of a wait. A call
// that does not wait therefore pays for some stores, a process without a policy for one branch.
//
// The program sees no change: calls are not replaced by others, and no request, status or error passes through here.
// Scopes of one thread do not overlap. Any number of threads may have one.
#pragma once
#include <cstdint>

#include "base/ticks.hpp"

namespace lull::mpi {

// The current call of a thread, and the state of the idle loop in it.
struct call_under_way {
  const char* function = nullptr;  // "MPI_Recv": a literal, identified by its address
  const void* site = nullptr;
  std::uintptr_t comm = 0;  // the communicator's handle, or 0
  std::uint64_t size = 0;   // bytes or elements, whichever is available; distinguishes waits by size
  int peer = -1;
  std::uint32_t looks = 0;  // calls of the library's progress since the call began, or since the last arrival
  std::uint32_t came = 0;   // number of arrivals during this call
  bool active = false;
  bool waited = false;  // it was not over after the first looks
  // During one look:
  bool looking = false;            // the library's progress is running
  bool idle = false;               // it found nothing to do
  bool descriptors_ready = false;  // it found something on a descriptor
  bool polled = false;             // it checked descriptors
  bool copy_descriptors = false;   // copy the descriptors that it checks
  // The previous call's site, since what a program waits for depends on what it did before.
  const void* site_before = nullptr;
};
extern constinit thread_local call_under_way this_call [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

// What scopes have to do.
enum class scope_duty : std::uint8_t { nothing, mark, mark_and_count };
extern scope_duty duty_of_scopes [[gnu::visibility("hidden")]];

class wait_scope {
 public:
  wait_scope(const char* function, const void* site, std::uintptr_t comm, int peer, std::uint64_t size) noexcept {
    if (duty_of_scopes == scope_duty::nothing) return;
    call_under_way& call = this_call;
    call_ = &call;
    call.site_before = call.site;
    call.function = function;
    call.site = site;
    call.comm = comm;
    call.peer = peer;
    call.size = size;
    call.looks = 0;
    call.came = 0;
    if (duty_of_scopes == scope_duty::mark_and_count) [[unlikely]]
      begin_counted(call);
    call.active = true;
  }
  wait_scope(const wait_scope&) = delete;
  wait_scope& operator=(const wait_scope&) = delete;
  ~wait_scope() {
    if (call_ == nullptr) return;
    call_->active = false;
    if (call_->waited) [[unlikely]]
      end_waited(*call_);
  }

 private:
  static void begin_counted(call_under_way& call) noexcept;
  static void end_waited(call_under_way& call) noexcept;

  call_under_way* call_ = nullptr;
};

// A call that does not wait, but checks whether something has arrived. If a program repeats it, that is the program's
// own form of waiting; no policy changes it, but its call site and time are counted.
class poll_scope {
 public:
  poll_scope(const char* function, const void* site) noexcept {
    if (duty_of_scopes != scope_duty::mark_and_count) [[likely]]
      return;
    function_ = function;
    site_ = site;
    begin_ = ticks();
  }
  void over(bool found_nothing) const noexcept {
    if (function_ != nullptr) [[unlikely]]
      count(found_nothing);
  }

 private:
  void count(bool found_nothing) const noexcept;

  const char* function_ = nullptr;
  const void* site_ = nullptr;
  std::uint64_t begin_ = 0;
};

// Replaces a function that the library calls by name, through the front's slots.
using replace_function = void (*)(const char* name, void (*by)());

// Whether calls need scopes: the policy differs from the library's own waiting, or waits are counted.
[[nodiscard]] bool waiting_wanted();

// `library`: a handle of the loaded MPI library. If this library cannot wait by a policy, does nothing except print a
// line on stderr where that is not obvious. Call after MPI_Init, from the same thread.
void start_waiting(void* library, replace_function replace) noexcept;
// Prints the cost of waiting, and stores it in the record. Call before MPI_Finalize; the policy stays in force.
void end_waiting() noexcept;

}  // namespace lull::mpi
