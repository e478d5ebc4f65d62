// The radix sort: digit after digit from the least, each element travels to its position in the order of that digit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "radix_sort/elements.hpp"
#include "radix_sort/mover.hpp"
#include "radix_sort/positions.hpp"

namespace radix_sort {

template <std::size_t Bytes>
class sorter {
 public:
  sorter(const element_form& form, unsigned digit_bits, const shares& all, mover<Bytes>& moves)
      : form_(form),
        digit_bits_(digit_bits),
        shares_(all),
        moves_(moves),
        positions_(std::size_t{1} << digit_bits, all),
        next_(std::size_t{1} << digit_bits) {}

  // Sorts the elements in `from`; the result is in the buffer it returns, `from` or `other`, both of which are
  // symmetric and overwritten. Collective.
  std::byte* sort(std::byte* from, std::byte* other) {
    moves_made_ = 0;
    const std::size_t bytes = shares_.count(shmem_my_pe()) * moves_.size();
    for (unsigned bit = 0; bit < form_.key_bits(); bit += digit_bits_) {
      const digit now(form_, bit, std::min(digit_bits_, form_.key_bits() - bit));
      if (!pass({from, bytes}, now, other)) continue;
      std::swap(from, other);
      ++moves_made_;
    }
    return from;
  }

  // Passes of the last sort() in which elements moved.
  [[nodiscard]] unsigned moves_made() const { return moves_made_; }

 private:
  // False when all have the same digit: they stay where they are.
  bool pass(std::span<const std::byte> elements, const digit& now, std::byte* into) {
    const std::span<std::uint64_t> counts = positions_.counts();
    for (const std::byte* at = elements.data(); at != elements.data() + elements.size(); at += moves_.size())
      ++counts[now(at)];
    if (!positions_.find(next_)) return false;
    moves_.begin(into);
    scatter(elements, now);
    moves_.done();
    return true;
  }

  void scatter(std::span<const std::byte> elements, const digit& now) {
    const auto block = static_cast<std::uint32_t>(shares_.block);
    for (const std::byte* at = elements.data(); at != elements.data() + elements.size(); at += moves_.size()) {
      position& to = next_[now(at)];
      const position here = to;
      if (++to.offset == block) to = {to.pe + 1, 0};
      moves_.move(at, here.offset, static_cast<int>(here.pe));
    }
  }

  element_form form_;
  unsigned digit_bits_;
  shares shares_;
  mover<Bytes>& moves_;
  positions positions_;
  std::vector<position> next_;  // of each digit
  unsigned moves_made_ = 0;
};

}  // namespace radix_sort
