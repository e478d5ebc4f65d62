// Waiting of an unmodified MPI program by Lull's policies: what the wrappers of blocking calls do.
//
//   start_waiting(library, front);     after MPI_Init has returned, where LULL_WAIT is set
//   wait_scope waits("MPI_Recv", __builtin_return_address(0), comm, source, count);   around each call that may block
//   poll_scope poll("MPI_Test", __builtin_return_address(0));                         before each that only asks, and
//   poll.over(found_nothing);                                                         when it has been answered
//   end_waiting();                     before MPI_Finalize is called
//
// The library's own algorithms stay. A scope says which call is under way on this thread; what acts on it replaces the
// library's idle loop (waiting/idle_loop.cpp) and does nothing in the first microseconds of a wait. So a call that does
// not wait pays for some stores, a process without a policy for one branch.
//
// Nothing that a program can see changes: no call is replaced by another, no request, status or error passes through here.
// Scopes of one thread do not overlap. Any number of threads may have one.
#pragma once
#include <cstdint>

#include "base/ticks.hpp"

namespace lull::mpi {

// The call under way on a thread, and where the idle loop stands in it.
struct call_under_way {
  const char* function = nullptr;  // "MPI_Recv": a literal, told apart by its address
  const void* site = nullptr;
  std::uintptr_t comm = 0;  // the communicator's handle, or 0
  std::uint64_t size = 0;   // bytes or elements, whichever is at hand: waits of different sizes are told apart by it
  int peer = -1;
  std::uint32_t looks = 0;  // at the library's progress since the call began, or since something last came
  std::uint32_t came = 0;   // so often something came in this call
  bool active = false;
  bool waited = false;  // it has not been over in the first looks
  // Of one look:
  bool looking = false;            // the library's progress is being called
  bool idle = false;               // it found nothing to do
  bool descriptors_ready = false;  // it found something on a descriptor
  bool polled = false;             // it looked at descriptors
  bool copy_descriptors = false;   // those are to be kept
  // That of the call before: what a program waits for depends on where it comes from.
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

// A call that does not wait, but asks whether something is there: where a program asks again and again, that is its own
// way to wait, which no policy changes, but whose place and time are counted.
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

// The slots of the front: how a function that the library calls by name is replaced.
using replace_function = void (*)(const char* name, void (*by)());

// Whether calls have to say that they are under way: a policy is set, and it is not the library's own, or waits are counted.
[[nodiscard]] bool waiting_wanted();

// `library`: a handle of the MPI library that the program has loaded. Does nothing, but for one line on stderr where
// that is not obvious, when this library cannot wait by a policy. Call after MPI_Init, from the thread that called it.
void start_waiting(void* library, replace_function replace) noexcept;
// Prints and leaves in the record what waiting has cost. Call before MPI_Finalize; waiting goes on.
void end_waiting() noexcept;

}  // namespace lull::mpi
