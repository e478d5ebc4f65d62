// From the values of a hardware counter to how much it counted, without ever inventing any of it.
//
// A value type: push() takes one reading after the other and says which case happened, so that no caller can forget
// one. Nothing is ever subtracted from the total, and nothing is added that the hardware could not have counted in the
// time that passed:
//
//   first       there is nothing to compare with yet
//   difference  the counter went up by a possible amount
//   wrapped     it went over its end: only when the way round is possible, i.e. <= max_per_second * time
//   stale       it has not moved, although it should have
//   gap         the reading failed; what was counted meanwhile is in the next good reading
//   reset       it jumped by an impossible amount, or the source knows that it was started again: the total goes on
//               from the new value and is a lower bound
//
// A total is also a lower bound when a reading is missing at either end, or when so much time passed between two
// readings that the counter may have gone round once more than was seen.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

namespace lull::meter {

// What is known about a counter, in its own unit.
struct counter_limits {
  std::uint64_t range = 0;    // the value at which it starts again from 0; 0: none or unknown, no wrap is accepted
  double max_per_second = 0;  // more than it can count in a second; 0: unknown, no wrap is accepted
  std::int64_t slack_ns = 0;  // how much older a value may be than its time stamp says (update interval, scheduling)
  bool may_rest = false;      // it stands still when nothing happens (bytes, ticks), so an unchanged value is no fault
};

// What the source itself knows of the counter since its last good reading.
enum class continuity {
  kept,
  doubtful,  // something was changed meanwhile that may have stopped it for a while: the total is a lower bound
  broken     // it was started again: no difference to the value before means anything
};

struct first {};
struct difference {
  std::uint64_t amount;
};
struct wrapped {
  std::uint64_t amount;
};
struct stale {};
struct gap {};
struct reset {};
using step = std::variant<first, difference, wrapped, stale, gap, reset>;

class accumulator {
 public:
  accumulator() = default;
  explicit accumulator(counter_limits limits) : limits_(limits) {}

  // The next reading; no value means that it failed. Times are CLOCK_MONOTONIC and do not decrease.
  step push(std::optional<std::uint64_t> value, std::int64_t time_ns, continuity since = continuity::kept);

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] int wraps() const { return wraps_; }
  [[nodiscard]] int gaps() const { return gaps_; }
  [[nodiscard]] int resets() const { return resets_; }
  [[nodiscard]] int stales() const { return stales_; }
  [[nodiscard]] bool lower_bound() const { return lower_bound_ || !base_ || gap_open_; }
  // Part of total() that was not counted if what passed for a wrap was a reset shortly before one: the way up to the
  // end.
  [[nodiscard]] std::uint64_t before_wraps() const { return before_wraps_; }
  // At most this much more than total() can have been counted and not seen; 0 when max_per_second is not known.
  [[nodiscard]] double missing_at_most() const;

 private:
  struct known_value {
    std::uint64_t value;
    std::int64_t time_ns;  // when it was first seen: a stale value gets no younger by being read again
  };

  [[nodiscard]] double possible_in(std::int64_t ns) const;

  counter_limits limits_;
  std::optional<known_value> base_;
  std::int64_t first_gap_ns_ = 0;
  std::int64_t latest_ns_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t before_wraps_ = 0;
  double missing_ = 0;
  int wraps_ = 0, gaps_ = 0, resets_ = 0, stales_ = 0;
  bool gap_open_ = false;
  bool lower_bound_ = false;
};

}  // namespace lull::meter
