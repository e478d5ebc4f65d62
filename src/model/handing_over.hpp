// From output to output: whether to hand over to a server, or to write oneself, by what both have cost so far. Pure: it is told
// costs, and answers.
//
// next() → the file is handed over, or written → handed_over() or wrote_itself()
//
// A cost is what the program was held up by a file, from its begin to its end, waiting for room in the buffer included, per
// byte. Handing over costs little while there is room and may cost much when there is none: these are two situations, each
// with a decision of its own. The other way takes over only when it is clearly cheaper, and is tried now and then, for costs
// change; a trial costs no more than a small share of what output costs anyway (output_costs in machine.hpp). While there is room,
// and one's own writing has never been seen, nothing but handing over is tried.
#pragma once
#include <array>
#include <optional>

#include "model/machine.hpp"

namespace lull::model {

enum class output_turn { hand_over, write_yourself };

class handing_over {
 public:
  explicit handing_over(const output_costs& costs = {}) : costs_(costs) {}

  // For a file that begins. `room`: what it is expected to need is free in the buffer.
  [[nodiscard]] output_turn next(bool room);
  void handed_over(bool had_room, double seconds, double bytes);
  void wrote_itself(double seconds, double bytes);

 private:
  struct cost {
    std::optional<double> per_byte;
    bool old = false;  // it was not this way's turn for long: what is seen next takes its place
  };
  struct situation {
    output_turn now = output_turn::hand_over;
    cost handing;
    int since_trial = 0;        // files
    double spent_per_byte = 0;  // since the last trial, summed over files
  };
  void learn(cost& of, double seconds, double bytes) const;

  output_costs costs_;
  std::array<situation, 2> by_room_;  // without, with
  cost own_;
};

}  // namespace lull::model
