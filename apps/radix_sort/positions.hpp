// The positions of each PE's elements in the order of one digit.
//
// An element's position is the number of elements with a smaller digit, plus the number of those with the same digit on
// earlier PEs or earlier on its own. Positions thus keep the order of equal digits, in whatever order elements arrive.
// Each PE sums a share of the digits: the counts are transposed, summed over the PEs, and transposed back, so that a PE
// needs memory for two counts of each digit, however many PEs there are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "irregular/symmetric.hpp"

namespace radix_sort {

struct position {
  std::uint32_t pe;
  std::uint32_t offset;  // in that PE's elements
};

// Equal consecutive shares of all elements; the last PEs may have fewer.
struct shares {
  std::uint64_t total;
  std::uint64_t block;  // elements of a full PE
  shares(std::uint64_t total, int pes);
  [[nodiscard]] std::uint64_t begin(int pe) const;
  [[nodiscard]] std::uint64_t count(int pe) const { return begin(pe + 1) - begin(pe); }
};

class positions {
 public:
  positions(std::size_t digits, const shares& all);  // collective, like find()

  // The number of this PE's elements by digit, for the caller to count; 0 at first and after find().
  [[nodiscard]] std::span<std::uint64_t> counts() const { return counts_.all(); }

  // Finds the position of this PE's first element of each digit. False if all elements of all PEs have the same digit,
  // so that nothing needs to move.
  [[nodiscard]] bool find(std::span<position> first);

 private:
  struct block_sum {
    std::uint64_t elements;
    std::uint64_t is_one_digit;
  };
  shares shares_;
  std::size_t pes_, share_;                                    // digits summed by each PE
  irregular::symmetric_array<std::uint64_t> counts_, theirs_;  // by digit; by PE and digit of the share
  irregular::symmetric_array<block_sum> sum_, sums_;
};

}  // namespace radix_sort
