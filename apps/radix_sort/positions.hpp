// Where in the order of one digit the elements of each PE go.
//
// An element's position is the number of elements anywhere with a smaller digit, and of those with its own digit on PEs
// before or earlier on its own: positions keep the order of equal digits, whatever order elements arrive in. Each PE
// adds up a share of the digits: the counts are transposed, added over the PEs, and transposed back, so that a PE
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
  positions(std::size_t digits, const shares& all);  // collective, as find()

  // The elements of this PE by digit: to be counted here, all 0 at first and after find().
  [[nodiscard]] std::span<std::uint64_t> counts() const { return counts_.all(); }

  // The position of the first element of this PE with each digit. False when all elements of all PEs have the same
  // digit and nothing needs to move.
  [[nodiscard]] bool find(std::span<position> first);

 private:
  struct block_sum {
    std::uint64_t elements;
    std::uint64_t is_one_digit;
  };
  shares shares_;
  std::size_t pes_, share_;                                    // digits added up by each PE
  irregular::symmetric_array<std::uint64_t> counts_, theirs_;  // by digit; by PE and digit of the share
  irregular::symmetric_array<block_sum> sum_, sums_;
};

}  // namespace radix_sort
