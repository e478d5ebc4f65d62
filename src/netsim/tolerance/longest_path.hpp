// The run time of a recorded program (dependencies.hpp) if its messages took longer: the longest path of its graph, and
// what lies on it.
//
// The run time is a maximum over paths. If each message takes longer by a constant, every path grows in proportion to the
// change: as a function of its size the run time is convex, and linear in pieces. One pass over the graph gives its value
// and its slope.
//
// If links sleep, the delay of a message depends on when the messages before it have crossed its links. A pass then
// replays the messages on their recorded routes, in the order in which they were created, with the simulator's own rules
// of sleeping and waking (link_power.hpp), but without queues.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "netsim/power/link_power.hpp"
#include "netsim/simulation.hpp"
#include "netsim/tolerance/dependencies.hpp"

namespace lull::netsim {

// By how much each message of the network takes longer, per unit of the change, in picoseconds.
struct added_delay {
  double message = 0;
  double node_cable = 0;    // for each cable to or from a node
  double switch_cable = 0;  // for each cable between switches
  double byte = 0;          // for each byte, until the message has left
};

struct run_time {
  double time = 0;   // picoseconds
  double slope = 0;  // its growth per unit of the change
};

struct run_asleep {
  double time = 0;   // picoseconds
  double saved = 0;  // of the active power of the links that carry a message, as a share
};

// Works in memory of its own, 32 bytes for each step, so that several calls allocate it once.
class longest_path {
 public:
  explicit longest_path(const dependencies& of);

  // With `size` units of the change.
  [[nodiscard]] run_time with(const added_delay& change, double size);
  // With links that sleep.
  [[nodiscard]] run_asleep with(const link_policy& policy, const network_parameters& network);
  // What the longest path of the recorded run consists of.
  [[nodiscard]] critical_path recorded(const network_parameters& network);

 private:
  struct end {
    double time = 0;
    double slope = 0;
  };
  template <class Slower, class Longer>
  [[nodiscard]] end pass(Slower slower, Longer longer);
  [[nodiscard]] std::uint32_t last_of_all() const;
  [[nodiscard]] const dependencies::message* message_of(std::uint32_t step) const;
  void add_message(critical_path& to, const dependencies::message& m, bool arrives,
                   const network_parameters& network) const;

  const dependencies& of_;
  std::vector<end> ends_;  // by dependencies::end_of_step
};

}  // namespace lull::netsim
