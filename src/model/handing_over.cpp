#include "model/handing_over.hpp"

namespace lull::model {

output_turn handing_over::next(bool room) {
  situation& here = by_room_[room ? 1 : 0];
  if (!here.handing.per_byte) return output_turn::hand_over;
  if (!own_.per_byte) return room ? output_turn::hand_over : output_turn::write_yourself;

  const bool hands_over = here.now == output_turn::hand_over;
  const output_turn other = hands_over ? output_turn::write_yourself : output_turn::hand_over;
  cost& of_other = hands_over ? own_ : here.handing;
  const double mine = hands_over ? *here.handing.per_byte : *own_.per_byte;
  if (*of_other.per_byte < mine * (1 - costs_.least_gain_of_a_turn)) {
    here = {.now = other, .handing = here.handing};
    return other;
  }
  ++here.since_trial;
  here.spent_per_byte += mine;
  if (here.since_trial < costs_.fewest_between_trials ||
      *of_other.per_byte - mine > costs_.trial_share * here.spent_per_byte)
    return here.now;
  here.since_trial = 0;
  here.spent_per_byte = 0;
  of_other.old = true;
  return other;
}

void handing_over::handed_over(bool had_room, double seconds, double bytes) {
  learn(by_room_[had_room ? 1 : 0].handing, seconds, bytes);
}

void handing_over::wrote_itself(double seconds, double bytes) { learn(own_, seconds, bytes); }

void handing_over::learn(cost& of, double seconds, double bytes) const {
  if (bytes < costs_.least_telling_bytes) return;
  const double seen = seconds / bytes;
  of = {of.per_byte && !of.old ? *of.per_byte + costs_.weight_of_the_last * (seen - *of.per_byte) : seen};
}

}  // namespace lull::model
