// Computes how much a hardware counter has counted from its readings, without ever inventing an amount.
//
// A value type: push() takes one reading after the other and returns which case occurred, so that no caller can forget
// one. The total never decreases, and never includes an amount that the hardware could not have counted in the time
// that passed:
//
//   first       there is no earlier value to compare with
//   difference  the counter went up by a possible amount
//   wrapped     it passed its end: only if that amount is possible, i.e. <= max_per_second * time
//   stale       it has not moved, although it should have
//   gap         the reading failed; the next good reading includes what was counted in between
//   reset       it jumped by an impossible amount, or the source knows that it was restarted: counting continues from
//               the new value, and the total is a lower bound
//
// A total is also a lower bound if a reading is missing at either end, or if so much time passed between two readings
// that the counter may have wrapped once more than was seen.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

namespace lull::meter {

// Properties of a counter, in its unit.
struct counter_limits {
  std::uint64_t range = 0;    // the value at which it wraps to 0; 0: none or unknown, no wrap is accepted
  double max_per_second = 0;  // an upper bound of its rate; 0: unknown, no wrap is accepted
  std::int64_t slack_ns = 0;  // how much older a value may be than its time stamp (update interval, scheduling)
  bool may_rest = false;      // it stands still while nothing happens (bytes, ticks), so an unchanged value is no error
};

// What the source itself knows of the counter since its last good reading.
enum class continuity {
  kept,
  doubtful,  // a change may have stopped it for a while: the total is a lower bound
  broken     // it was restarted: the difference to the earlier value is meaningless
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

  // Takes the next reading; no value means that it failed. Times are CLOCK_MONOTONIC and do not decrease.
  step push(std::optional<std::uint64_t> value, std::int64_t time_ns, continuity since = continuity::kept);

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] int wraps() const { return wraps_; }
  [[nodiscard]] int gaps() const { return gaps_; }
  [[nodiscard]] int resets() const { return resets_; }
  [[nodiscard]] int stales() const { return stales_; }
  [[nodiscard]] bool lower_bound() const { return lower_bound_ || !base_ || gap_open_; }
  // The part of total() that was not counted if an assumed wrap was in fact a reset shortly before it: the amount up to
  // the end of the range.
  [[nodiscard]] std::uint64_t before_wraps() const { return before_wraps_; }
  // The most that can have been counted in addition to total() without being seen; 0 if max_per_second is unknown.
  [[nodiscard]] double missing_at_most() const;

 private:
  struct known_value {
    std::uint64_t value;
    std::int64_t time_ns;  // when it was first seen; reading a stale value again does not make it newer
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
