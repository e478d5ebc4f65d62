// What to record for the calls that the table cannot describe, in addition to their time.
#pragma once
#include "mpi/recorded.hpp"

namespace lull::mpi {

// Requests that are started or cancelled.

inline void after_MPI_Start(call_record& call, const MPI_Request* request) {
  call.plain();
  call.about_request(trace::kind::started, bits_of(*request));
}
inline void after_MPI_Startall(call_record& call, int count, const MPI_Request* array_of_requests) {
  call.plain();
  for (int i = 0; i < count; ++i) call.about_request(trace::kind::started, bits_of(array_of_requests[i]));
}
inline void after_MPI_Cancel(call_record& call, const MPI_Request*) {
  cancelling = true;
  call.plain();
}

inline void after_MPI_Comm_set_name(call_record& call, MPI_Comm comm, const char* comm_name) {
  call.plain();
  name_communicator(comm, comm_name);
}

// Windows. At the end of an epoch, all operations on the target, or on all targets, are complete.

inline void after_MPI_Win_fence(call_record& call, int, MPI_Win win) {
  const window& in = window_of(call.thread(), win);
  if (in.number == communicator::unknown) return call.plain();
  call.put(trace::kind::window_collective, in.number, -1, -1, 0);
}
inline void after_MPI_Win_start(call_record& call, MPI_Group, int, MPI_Win) { call.plain(); }
inline void after_MPI_Win_complete(call_record& call, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::completed_at_target, win, -1);
}
inline void after_MPI_Win_post(call_record& call, MPI_Group, int, MPI_Win) { call.plain(); }
inline void after_MPI_Win_wait(call_record& call, MPI_Win) { call.plain(); }
inline void after_MPI_Win_test(call_record& call, MPI_Win, const int* flag) {
  if (*flag != 0)
    call.plain();
  else
    call.in_vain();
}
inline void after_MPI_Win_sync(call_record& call, MPI_Win) { call.plain(); }
inline void after_MPI_Win_lock(call_record& call, int lock_type, int rank, int, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::locked, win, rank, lock_type == MPI_LOCK_EXCLUSIVE);
}
inline void after_MPI_Win_lock_all(call_record& call, int, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::locked, win, -1);
}
inline void after_MPI_Win_unlock(call_record& call, int rank, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::completed_at_target, win, rank);
  call.about_window(trace::kind::unlocked, win, rank);
}
inline void after_MPI_Win_unlock_all(call_record& call, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::completed_at_target, win, -1);
  call.about_window(trace::kind::unlocked, win, -1);
}
inline void after_MPI_Win_flush(call_record& call, int rank, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::completed_at_target, win, rank);
}
inline void after_MPI_Win_flush_all(call_record& call, MPI_Win win) {
  call.plain();
  call.about_window(trace::kind::completed_at_target, win, -1);
}
inline void after_MPI_Win_flush_local(call_record& call, int, MPI_Win) { call.plain(); }
inline void after_MPI_Win_flush_local_all(call_record& call, MPI_Win) { call.plain(); }

// A handle that the call frees. It is forgotten before the call, because afterwards another thread may get the same
// handle. The table determines its kind by its type, since all handles of MPICH are int.
enum class ended { communicator, window, request, type };

template <unsigned tools, ended what>
class ending {
 public:
  template <class Handle>
  ending(const outermost_call<tools>& outermost, const Handle* handle) {
    if constexpr (recording<tools>) {
      if (handle == nullptr) return;
      bits_ = bits_of(*handle);
      if constexpr (what == ended::communicator) {
        number_ = communicator_of(outermost.thread(), *handle).number;
        forget_communicator(*handle);
      } else if constexpr (what == ended::window) {
        number_ = window_of(outermost.thread(), *handle).number;
        forget_window(*handle);
      } else if constexpr (what == ended::type) {
        forget_types();
      }
    }
  }

  void recorded_in(call_record& call) const {
    if (number_ != communicator::unknown)
      call.put(what == ended::window ? trace::kind::window_collective : trace::kind::collective, number_, -1, -1, 0);
    else
      call.plain();
    if constexpr (what == ended::request) call.about_request(trace::kind::freed, bits_);
  }

 private:
  std::uintptr_t bits_ = 0;
  std::uint16_t number_ = communicator::unknown;
};

}  // namespace lull::mpi
