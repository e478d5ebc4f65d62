// From output to output: whether to hand over to a server, or to write oneself, by what both are predicted to cost, corrected
// by what they have cost so far. Pure: it is told costs, and answers.
//
// next() → the file is handed over, or written → handed_over() or wrote_itself()
//
// A cost is what the program was held up by a file, from its begin to its end, waiting for room in the buffer included, per
// byte. Handing over costs little while there is room and may cost much when there is none: these are two situations, each
// with a decision of its own. Each begins with what the machine's constants say; the other way takes over only when it is clearly
// cheaper, and is tried now and then, for costs change; a trial costs no more than a small share of what output costs anyway
// (output_costs in machine.hpp). While there is room, and one's own writing has never been seen, nothing but handing over is
// tried.
//
// Where nothing is to be corrected (LULL_CHOOSE=off), the way of each situation stays.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/choices/account.hpp"
#include "model/machine/correction.hpp"
#include "model/machine/machine.hpp"

namespace lull::model {

enum class output_turn { hand_over, write_yourself };

// What was chosen in one situation and what it came to, of a client, or of several together: plain numbers, to be sent.
struct output_turns {
  struct way {
    std::uint64_t files = 0;
    double bytes = 0, seconds = 0;
    // What all files of the situation would have cost by this way: as the machine's constants have it, and corrected.
    double predicted_s = 0, corrected_s = 0;
  };
  std::array<way, 2> ways{};  // by output_turn
  std::uint64_t switches = 0;
  output_turns& operator+=(const output_turns& other);
};
struct output_turns_by_room {
  output_turns without, with;
  output_turns_by_room& operator+=(const output_turns_by_room& other);
};
// `hand-over`: of so many clients.
[[nodiscard]] std::vector<choice_account> accounts_of(const output_turns_by_room& all, int clients);

class handing_over {
 public:
  explicit handing_over(const machine& on = {});

  // For a file that begins. `room`: what it is expected to need is free in the buffer.
  [[nodiscard]] output_turn next(bool room);
  void handed_over(bool had_room, double seconds, double bytes);
  void wrote_itself(double seconds, double bytes);

  [[nodiscard]] output_turns_by_room turns() const { return {turns_of(by_room_[0]), turns_of(by_room_[1])}; }

 private:
  struct cost {
    corrected_term per_byte;
    bool tried = false;
  };
  struct situation {
    cost handing;
    steady_choice way;          // by output_turn
    int since_trial = 0;        // files
    double spent_per_byte = 0;  // since the last trial, summed over files
    output_turns done{};
  };
  static situation without_room(const machine&on), with_room(const machine&on);
  [[nodiscard]] output_turns turns_of(const situation& one) const;
  void learn(cost& of, output_turns::way& done, double seconds, double bytes) const;

  output_costs costs_;
  bool corrects_;
  cost own_;
  std::array<situation, 2> by_room_;  // without, with
  bool wrote_with_room_ = false;      // of the last file of which that was chosen
};

}  // namespace lull::model
