// The functions of the engine that ports call.
#pragma once
#include "mpi/waiting/port.hpp"

namespace lull::mpi {

// See idle_loop.hpp.
void beat_of_engine(call_under_way& call, turn found) noexcept;
// A turn of the library's loop is over outside the calls that wait by a policy.
void turn_outside_calls() noexcept;
// The number of the sleep that this thread has announced: descriptors that the library asks now are those to sleep on.
// 0: it has announced none.
[[nodiscard]] std::uint32_t announced_sleep() noexcept;

// A turn of the library's loop is over. May sleep.
inline void beat(turn found) noexcept {
  call_under_way& call = this_call;
  if (!call.active) {
    if (found == turn::advanced) turn_outside_calls();
    return;
  }
  if (found == turn::idle && ++call.beats < call.next) [[likely]]
    return;
  beat_of_engine(call, found);
}

}  // namespace lull::mpi
