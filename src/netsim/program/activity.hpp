// A stream of operations that a process executes: its program, or one of the collectives that it takes part in, which
// go on beside the program.
#pragma once
#include <cstdint>
#include <span>

#include "netsim/program/requests.hpp"
#include "netsim/program/stream.hpp"

namespace lull::netsim {

struct activity {
  enum class state : std::uint8_t {
    runs,        // its next operation is being asked for, or executed
    computes,    // until a time
    hands_over,  // the overhead before a send, a put, a get, an atomic
    takes_over,  // the overhead behind a receive
    awaits,      // the request in `awaited`
    awaits_any,  // any request
    awaits_put,  // as many puts and atomics as the operation in hand says
    ended,
  };

  // First what is looked at when a request will be complete.
  stream todo;
  state is = state::runs;
  collective which = collective::barrier;  // of a collective
  std::uint32_t awaited = 0;               // slot
  requests pending;
  const operation* in_hand = nullptr;
  std::uint64_t context = 0;               // of its messages
  std::span<const std::uint32_t> members;  // of the group whose ranks it names; none: ranks of the job
  picoseconds since = 0;                   // when its state began, of those that take time
  std::uint32_t reports_to = 0;            // of a collective: the slot of the program's request for it
};

}  // namespace lull::netsim
