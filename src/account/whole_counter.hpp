// What one channel has counted, in whole microjoules, over restarts of the process that reads it.
//
// Contract: add() returns what was counted since the last reading that moved the counter, at least 0, and the sum of all
// results is uj(). Wraps, gaps and resets are those of accumulator.hpp. A copy of state() lets another process go on:
// what the hardware counted in between is then the first result, with the same checks as between any two readings. A
// counter that starts with the process that reads it (`starts_with_reader`) is then broken: a lower bound.
#pragma once
#include <cstdint>
#include <optional>

#include "meter/source.hpp"
#include "meter/tally.hpp"

namespace lull::account {

class whole_counter {
 public:
  // What a later process needs; times are CLOCK_MONOTONIC of the same boot.
  struct state {
    std::int64_t uj = 0;
    std::optional<std::uint64_t> raw;
    std::int64_t time_ns = 0;
    std::int64_t wraps = 0, gaps = 0, resets = 0;
  };
  struct counted {
    std::int64_t uj = 0;
    double missing_uj = 0;  // at most so much was counted in addition and is lost
    bool failed = false;    // the reading failed
    bool lost = false;      // energy was lost: `uj` is a lower bound
  };

  explicit whole_counter(meter::channel channel);
  whole_counter(meter::channel channel, const state& earlier);

  counted add(meter::reading reading);
  [[nodiscard]] std::int64_t uj() const { return state_.uj; }
  [[nodiscard]] const state& now() const { return state_; }
  [[nodiscard]] const meter::channel& channel() const { return channel_; }

 private:
  void start_tally(std::uint64_t raw, std::int64_t time_ns);

  meter::channel channel_;
  state state_;
  meter::tally tally_;
  // Of the tally, up to the last reading.
  std::int64_t before_uj_ = 0;
  double missing_uj_ = 0;
  int wraps_ = 0, gaps_ = 0, resets_ = 0;
  bool lower_bound_ = false;
  bool broken_ = false;  // the next reading has no connection to the last one
};

// Counters that begin when they are opened, so that no later process can continue them.
[[nodiscard]] bool starts_with_reader(const meter::channel& channel);

}  // namespace lull::account
