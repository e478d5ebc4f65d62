// Waits of an unmodified MPI program under Lull's policies: what the wrappers of blocking calls do.
//
//   prepare_waiting(library);          before MPI_Init, if LULL_WAIT is set
//   start_waiting(library);            after MPI_Init has returned
//   wait_scope waits("MPI_Recv", __builtin_return_address(0), comm, source, count);   around each call that may block
//   poll_scope poll("MPI_Test", __builtin_return_address(0));                         around each non-blocking query
//   poll.over(found_nothing);                                                         after the library has answered
//   ring_scope rings;                                                                 around other calls that may send
//   end_waiting();                     before MPI_Finalize is called
//
// The library's algorithms are unchanged. A scope records the current call of this thread; the code that acts on it is
// called in each turn of the library's waiting loop (waiting/port.hpp), and does nothing in the first microseconds of a
// wait. A call that does not wait therefore pays for some stores, a process without a policy for one branch.
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
  std::uint32_t beats = 0;   // idle turns of the library's loop since the call began, or since the last arrival
  std::uint32_t next = 0;    // the engine acts at this beat
  std::uint32_t came = 0;    // number of arrivals during this call
  std::uint32_t yields = 0;  // of the library in this thread, if the policy leaves yielding to it
  bool active = false;
  bool waited = false;            // it was not over after the first beats
  bool may_have_sent = false;     // the thread, since it last rang
  bool asks_descriptors = false;  // the library's last turn has asked descriptors for what has come
  bool own_loop = false;          // consecutive queries of the program, which make up a call here
  // The previous call's site, since what a program waits for depends on what it did before.
  const void* site_before = nullptr;

  void begin(const char* by, const void* from, std::uintptr_t in, int with, std::uint64_t of) noexcept;
};
extern constinit thread_local call_under_way this_call [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

// What scopes have to do.
enum class scope_duty : std::uint8_t { nothing, mark, mark_and_count };
extern scope_duty duty_of_scopes [[gnu::visibility("hidden")]];
// The first beat of a call at which the engine acts.
extern std::uint32_t first_beat [[gnu::visibility("hidden")]];

inline void call_under_way::begin(const char* by, const void* from, std::uintptr_t in, int with,
                                  std::uint64_t of) noexcept {
  site_before = site;
  function = by;
  site = from;
  comm = in;
  peer = with;
  size = of;
  beats = 0;
  next = first_beat;
  came = 0;
}
// Not 0 while a rank of this node sleeps whom a call of this process may have to wake at its end.
extern const std::uint32_t* sleepers_to_ring [[gnu::visibility("hidden")]];

// The number of sleepers, read by a rank that has written a message or returned a fragment. x86 delays a store only for
// a bounded time, and a sleeper looks for that long after it has announced its sleep (waiting/bells.hpp), so a relaxed
// load suffices. Other processors need a fence before it.
inline std::uint32_t sleepers(const std::uint32_t* count) noexcept {
#if !defined(__x86_64__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  return __atomic_load_n(count, __ATOMIC_RELAXED);
}

// At the end of a call that may have sent something.
[[gnu::cold]] void ring_sleepers() noexcept;
inline void ring_if_somebody_sleeps() noexcept {
  if (sleepers(sleepers_to_ring) != 0) [[unlikely]]
    ring_sleepers();
}

class wait_scope {
 public:
  wait_scope(const char* function, const void* site, std::uintptr_t comm, int peer, std::uint64_t size) noexcept {
    if (duty_of_scopes == scope_duty::nothing) return;
    call_under_way& call = this_call;
    call_ = &call;
    call.begin(function, site, comm, peer, size);
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
    ring_if_somebody_sleeps();
  }

 private:
  static void begin_counted(call_under_way& call) noexcept;
  static void end_waited(call_under_way& call) noexcept;

  call_under_way* call_ = nullptr;
};

// The turns of this thread's call so far.
[[nodiscard]] inline std::uint32_t turns_so_far() noexcept { return this_call.beats + this_call.came; }
// A query within the call, begun after so many turns, has found nothing. If the library has shown no turn in it, as
// Intel's does not, the query itself is one, and may sleep.
void query_is_over(std::uint32_t turns_before) noexcept;

// A call that does not wait, but checks whether something has arrived. If a program repeats it, that is the program's
// own form of waiting. Its call site and time are counted. With LULL_MPI_LOOPS a policy may apply: then consecutive
// queries from one place make up one call for the engine, which may sleep in any of them.
class poll_scope {
 public:
  poll_scope(const char* function, const void* site) noexcept {
    if (duty_of_scopes != scope_duty::mark_and_count) [[likely]]
      return;
    function_ = function;
    site_ = site;
    begin_ = ticks();
    begun();
  }
  void over(bool found_nothing) const noexcept {
    if (function_ != nullptr) [[unlikely]]
      count(found_nothing);
    ring_if_somebody_sleeps();
  }

 private:
  void begun() const noexcept;
  void count(bool found_nothing) const noexcept;

  const char* function_ = nullptr;
  const void* site_ = nullptr;
  std::uint64_t begin_ = 0;
};

// A call that neither waits nor asks, but may send.
class ring_scope {
 public:
  ring_scope() noexcept = default;
  ring_scope(const ring_scope&) = delete;
  ring_scope& operator=(const ring_scope&) = delete;
  ~ring_scope() { ring_if_somebody_sleeps(); }
};

struct library_of_waiting {
  void* handle = nullptr;    // of the loaded MPI library, for dlsym
  const char* version = "";  // from MPI_Get_library_version
  // After MPI_Init:
  int rank = 0, ranks = 1;       // in MPI_COMM_WORLD
  bool several_threads = false;  // MPI_THREAD_MULTIPLE
  bool spawned = false;          // by another job
};

// Whether calls need scopes: the policy differs from the library's own waiting, or waits are counted.
[[nodiscard]] bool waiting_wanted();

// Whether a policy is in force now, which it is not in epochs of a comparison that are the library's.
[[nodiscard]] bool waits_by_policy() noexcept;

// Whether calls that only send have to ring sleepers at their end. Valid after start_waiting().
[[nodiscard]] bool senders_ring();

// Call before MPI_Init.
void prepare_waiting(const library_of_waiting& library) noexcept;
// If this library cannot wait by a policy, does nothing except print a line on stderr where that is not obvious. Call
// after MPI_Init, from the same thread.
void start_waiting(const library_of_waiting& library) noexcept;
// Prints the cost of waiting, and stores it in the record. Call before MPI_Finalize; the policy stays in force.
void end_waiting() noexcept;

}  // namespace lull::mpi
