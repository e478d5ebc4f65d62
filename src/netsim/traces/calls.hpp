// What a call of MPI or OpenSHMEM means to who replays it, by its name: what its events do not say, and what to do where it
// has none.
#pragma once
#include <cstdint>

#include "trace/events.hpp"

namespace lull::netsim {

struct call_rule {
  // Of a call without events; `begins`, `ends` and `files` are of one with events, too.
  enum class kind : std::uint8_t {
    computes,      // works for the program: its time is computing
    waits,         // has nothing to wait for here: its time is left out
    begins,        // the program begins when it ends
    ends,          // the program has ended
    files,         // its time is computing, and it is counted
    not_replayed,  // synchronises with others in a way that the trace does not tell: counted, its time left out
    memory_wait,   // waits until another process has changed memory of this one
    allocates,     // a barrier of all processes
  };
  kind is = kind::computes;
  bool communicates = false;    // it is of MPI or OpenSHMEM
  bool counted = false;         // as not replayed, even where it has events: they are not all that it does
  bool shmem = false;           // of OpenSHMEM: completion of puts is by quiet
  bool asks = false;            // test or probe: without events it was in vain
  bool polls = false;           // of those that a loop of tests consists of
  bool synchronous = false;     // sends are over when received
  bool buffered = false;        // sends are over at once
  bool neighbours = false;      // a collective between neighbours in a topology, which the trace does not tell
  bool returns_value = false;   // OpenSHMEM: get and atomics are over when the call is
  bool completes_puts = false;  // OpenSHMEM: all that was put is there before what it does
};

[[nodiscard]] call_rule rule_of(const trace::definitions::region& of);

}  // namespace lull::netsim
