// Decides for each output whether a client hands it over to a server or writes it itself, by the predicted costs of
// both, corrected by their costs so far. Pure: it gets costs and returns decisions.
//
// next() → the file is handed over, or written → handed_over() or wrote_itself()
//
// A cost is the time for which a file delayed the program, from its begin to its end, including waits for space in the
// buffer, per byte. Handing over costs little while there is space and may cost much otherwise; these are two
// situations with separate decisions. Each begins with what the machine's constants predict. The other alternative
// takes over only when it is clearly cheaper. It is tried from time to time, because costs change; a trial costs at
// most a small share of what output costs anyway (output_costs in machine.hpp). While there is space, and the client
// has never written a file itself, it always hands over.
//
// Without corrections (LULL_CHOOSE=off), the decision for each situation stays.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/choices/account.hpp"
#include "model/machine/correction.hpp"
#include "model/machine/machine.hpp"

namespace lull::model {

enum class output_turn { hand_over, write_yourself };

// The decisions in one situation and their costs, of one client or of several together: plain numbers, which are sent.
struct output_turns {
  struct way {
    std::uint64_t files = 0;
    double bytes = 0, seconds = 0;
    // What all files of the situation would have cost this way: by the machine's constants, and corrected.
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
// The account of `hand-over` for this number of clients.
[[nodiscard]] std::vector<choice_account> accounts_of(const output_turns_by_room& all, int clients);

class handing_over {
 public:
  explicit handing_over(const machine& on = {});

  // Decides for a file that begins. `room`: the buffer has the space that it is expected to need.
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
    int since_trial = 0;        // number of files
    double spent_per_byte = 0;  // since the last trial, summed over files
    output_turns done{};
  };
  static situation without_room(const machine&on), with_room(const machine&on);
  [[nodiscard]] output_turns turns_of(const situation& one) const;
  void learn(cost& of, output_turns::way& done, double seconds, double bytes) const;

  output_costs costs_;
  bool corrects_;
  cost own_;
  std::array<situation, 2> by_room_;  // without space, with space
  bool wrote_with_room_ = false;      // of the last file that the client wrote itself
};

}  // namespace lull::model
