// A trace becomes a program: told the events of an archive in the order of time, it makes operations of them, process by
// process (traced_process.hpp has the rules), in one pass.
//
//   conversion made(archive.all(), {.asked = "replay the trace x"});
//   archive.read(made);
//   const converted_trace trace = made.finish();
//
// Only times between events of one process count, so clocks that differ between processes do no harm; how many messages
// seem to arrive before they are sent is told. Where the clock of a process goes back, its time stands still until it has
// caught up. All that cannot be executed is refused here, with a line, before a simulation begins: messages and collectives
// without their counterparts, clocks that go back by more than a hundredth of the trace.
//
// Memory beside that of encoded_operations.hpp: some 2 KB for each process, 100 bytes for each member of a communicator it has
// used, each pair with messages under way, and each request that is not yet complete. It does not grow with the trace.
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
  std::string asked = "replay the trace";  // begins errors
  std::string iteration = {};              // a region whose end ends an iteration; "": there is none
};

struct converted_trace {
  std::unique_ptr<const encoded_operations> operations;  // of each rank
  std::vector<std::vector<std::uint32_t>> groups;        // by number; that of `everybody` is empty
  std::vector<not_replayed> left_out;
  std::uint64_t events = 0;
  std::uint64_t too_early = 0;  // messages received before they were sent, by the clocks
  std::uint64_t most_too_early_ns = 0;
  std::uint64_t went_back = 0;     // times at which the clock of a process did
  std::uint64_t went_back_ns = 0;  // together
  [[nodiscard]] std::uint32_t processes() const { return operations->processes(); }
};

class conversion : public trace::event_visitor {
 public:
  // `all` must outlive it. Throws lull::error where its processes are no job.
  conversion(const trace::definitions& all, conversion_options options);
  ~conversion() override;
  void on(const trace::event& e) override;
  // Once, after the last event. Throws lull::error where the trace cannot be replayed.
  [[nodiscard]] converted_trace finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lull::netsim
