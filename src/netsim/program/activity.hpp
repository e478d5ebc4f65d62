// A stream of operations that a process executes: its program, or one of the collectives that it takes part in
// concurrently with the program.
#pragma once
#include <cstdint>
#include <span>

#include "netsim/program/requests.hpp"
#include "netsim/program/stream.hpp"
#include "netsim/tolerance/dependencies.hpp"

namespace lull::netsim {

struct activity {
  enum class state : std::uint8_t {
    runs,        // the executor gets its next operation, or executes it
    computes,    // until a time
    hands_over,  // the overhead before a send, put, get or atomic
    takes_over,  // the overhead after a receive
    awaits,      // waits for the request in `awaited`
    awaits_any,  // waits for any request
    awaits_put,  // waits for the puts and atomics that `in_hand` specifies
    ended,
  };

  // The members that a request's completion touches come first.
  stream todo;
  state is = state::runs;
  collective which = collective::barrier;  // for a collective
  std::uint32_t awaited = 0;               // slot
  requests pending;
  const operation* in_hand = nullptr;
  std::uint64_t context = 0;               // of its messages
  std::span<const std::uint32_t> members;  // of the group to which its ranks refer; empty: ranks of the job
  picoseconds since = 0;                   // when its state began, if the state takes time
  std::uint32_t reports_to = 0;            // for a collective: the slot of the program's request for it
  dependencies::moment last;               // if dependencies are recorded
};

}  // namespace lull::netsim
