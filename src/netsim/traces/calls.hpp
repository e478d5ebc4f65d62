// What a call of MPI or OpenSHMEM means for the replay, by its name: what its events leave out, and what to do if it
// has none.
#pragma once
#include <cstdint>

#include "trace/events.hpp"

namespace lull::netsim {

struct call_rule {
  // For a call without events; `begins`, `ends` and `files` also apply to one with events.
  enum class kind : std::uint8_t {
    computes,      // works for the program: its time counts as computing
    waits,         // has nothing to wait for in the replay: its time is left out
    begins,        // the program begins at its end
    ends,          // the program has ended at its begin
    files,         // its time counts as computing, and it is counted
    not_replayed,  // synchronises with others in a manner that the trace does not record: counted, its time left out
    memory_wait,   // waits until another process has changed this one's memory
    allocates,     // a barrier of all processes
  };
  kind is = kind::computes;
  bool communicates = false;    // a call of MPI or OpenSHMEM
  bool counted = false;         // counted as not replayed even if it has events: they do not cover it all
  bool shmem = false;           // OpenSHMEM: quiet completes puts
  bool asks = false;            // test or probe: without events it was unsuccessful
  bool polls = false;           // a call of which loops of tests consist
  bool synchronous = false;     // sends are complete when received
  bool buffered = false;        // sends are complete at once
  bool neighbours = false;      // a collective between neighbours in a topology, which the trace does not record
  bool returns_value = false;   // OpenSHMEM: gets and atomics are complete when the call returns
  bool completes_puts = false;  // OpenSHMEM: all earlier puts are complete before it takes effect
};

[[nodiscard]] call_rule rule_of(const trace::definitions::region& of);

}  // namespace lull::netsim
