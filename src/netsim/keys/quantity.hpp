// Quantities as people write them, and back: "4 KiB", "100 Gbit/s", "1.1 us", "1 %".
//
// A plain number is in the SI unit: seconds, bytes, bytes per second, watts; a share is between 0 and 1. Times become
// whole picoseconds and sizes whole bytes, rounded to the nearest; the others real numbers, rounded once.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "netsim/keys/value.hpp"

namespace lull::netsim {

// Each unit is 10^ten 2^two of what the simulator counts in.
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

// What a value must be instead: "must be a time such as ...".
struct not_a_quantity : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The value in the simulator's unit: std::int64_t where it counts in whole units (beyond its range: the end of it),
// else double. Throws not_a_quantity.
[[nodiscard]] value parse(const quantity& of, const value& given);

// The amount in the largest unit that shows it exactly; `parse` gives the same amount again.
[[nodiscard]] std::string show(const quantity& of, const value& amount);

}  // namespace lull::netsim
