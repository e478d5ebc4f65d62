// Converts quantities from and to text: "4 KiB", "100 Gbit/s", "1.1 us", "1 %".
//
// A plain number is in the SI unit: seconds, bytes, bytes per second, watts; a share is between 0 and 1. Times are
// rounded to whole picoseconds, sizes to whole bytes; the others are real numbers, rounded once.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "netsim/keys/value.hpp"

namespace lull::netsim {

// A unit is 10^ten 2^two of the simulator's unit.
struct unit {
  const char* name;
  int ten;
  int two;
};

struct quantity {
  const char* name;
  std::span<const unit> units;
  const char* plain;  // the unit of a plain number
  bool whole;         // counted in whole units
  const char* example;
};

extern const quantity time_quantity, size_quantity, rate_quantity, share_quantity, power_quantity;

// Says what the value must be instead: "must be a time such as ...".
struct not_a_quantity : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The value in the simulator's unit: std::int64_t if that is counted in whole units (clamped to its range), otherwise
// double. Throws not_a_quantity.
[[nodiscard]] value parse(const quantity& of, const value& given);

// The amount in the largest unit that shows it exactly; `parse` returns the same amount.
[[nodiscard]] std::string show(const quantity& of, const value& amount);

}  // namespace lull::netsim
