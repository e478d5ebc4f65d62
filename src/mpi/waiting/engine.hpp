// The functions of the engine that ports call.
#pragma once
#include "mpi/waiting/port.hpp"

namespace lull::mpi {

// See idle_loop.hpp.
void beat_of_engine(call_under_way& call, turn found) noexcept;
// Something has come: what the library has sent in turn may be for a rank that sleeps.
[[gnu::cold]] void ring_in_turn() noexcept;
// Not 0 while a rank of this node sleeps, or is about to; not null.
extern const std::uint32_t* sleepers_of_node [[gnu::visibility("hidden")]];
// The number of the sleep that this thread has announced: descriptors that the library asks now are those to sleep on.
// 0: it has announced none.
[[nodiscard]] std::uint32_t announced_sleep() noexcept;

// A turn of the library's loop is over. May sleep.
inline void beat(turn found) noexcept {
  call_under_way& call = this_call;
  if (found == turn::idle) {
    if (!call.active || ++call.beats < call.next) [[likely]]
      return;
  } else if (!call.active || !call.waited) {  // it has no state in the engine yet
    ++call.came;
    call.next = first_beat;
    call.may_have_sent = true;
    if (sleepers(sleepers_of_node) != 0) [[unlikely]]  // after fragments have been returned
      ring_in_turn();
    return;
  }
  beat_of_engine(call, found);
}

}  // namespace lull::mpi
