// Converts a trace to a program: receives the events of an archive in order of time, and makes operations of them,
// process by process (by the rules in traced_process.hpp), in one pass.
//
//   conversion made(archive.all(), {.asked = "replay the trace x"});
//   archive.read(made);
//   const converted_trace trace = made.finish();
//
// Only times between events of one process matter, so clocks may differ between processes; the result reports how many
// messages seem to arrive before they are sent. If the clock of a process goes back, its time stops until the clock has
// caught up. The conversion rejects, with one line, all that cannot be executed, before a simulation begins: messages
// and collectives without their counterparts, and clocks that go back by more than a hundredth of the trace.
//
// Memory in addition to that of encoded_operations.hpp: some 2 KB per process, 100 bytes for each member of a
// communicator that it has used, each pair with messages in flight, and each request that is not complete. It does not
// grow with the trace.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netsim/traces/encoded_operations.hpp"
#include "netsim/traces/not_replayed.hpp"
#include "trace/events.hpp"

namespace lull::netsim {

struct conversion_options {
  std::string asked = "replay the trace";  // starts error messages
  std::string iteration = {};              // a region whose end ends an iteration; "": none
};

struct converted_trace {
  std::unique_ptr<const encoded_operations> operations;  // of each rank
  std::vector<std::vector<std::uint32_t>> groups;        // by number; that of `everybody` is empty
  std::vector<not_replayed> left_out;
  std::uint64_t events = 0;
  std::uint64_t too_early = 0;  // messages received before they were sent, according to the clocks
  std::uint64_t most_too_early_ns = 0;
  std::uint64_t went_back = 0;            // how often the clock of a process went back
  std::uint64_t went_back_ns = 0;         // in total
  std::vector<std::string> missing = {};  // of the trace itself, one line each
  [[nodiscard]] std::uint32_t processes() const { return operations->processes(); }
};

class conversion : public trace::event_visitor {
 public:
  // `all` must outlive this object. Throws lull::error if its processes do not form a job.
  conversion(const trace::definitions& all, conversion_options options);
  ~conversion() override;
  void on(const trace::event& e) override;
  // Call once, after the last event. Throws lull::error if the trace cannot be replayed.
  [[nodiscard]] converted_trace finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lull::netsim
