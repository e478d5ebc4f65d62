// The radix sort: digit by digit from the least significant, each element travels to its position in that order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "irregular/thread_pool.hpp"
#include "radix_sort/elements.hpp"
#include "radix_sort/mover.hpp"
#include "radix_sort/positions.hpp"

namespace radix_sort {

template <std::size_t Bytes>
class sorter {
 public:
  sorter(const element_form& form, unsigned digit_bits, irregular::thread_pool& threads, const shares& all,
         mover<Bytes>& moves)
      : form_(form),
        digit_bits_(digit_bits),
        threads_(threads),
        shares_(all),
        moves_(moves),
        positions_(std::size_t{1} << digit_bits, all),
        next_(threads.size(), std::vector<position>(std::size_t{1} << digit_bits)),
        counts_(threads.size() == 1 ? 0 : threads.size(), std::vector<std::uint64_t>(std::size_t{1} << digit_bits)) {}

  // Sorts the elements in `from`. Returns the buffer with the result, `from` or `other`; both are symmetric and
  // overwritten. Collective.
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

  // The passes of the last sort() in which elements moved.
  [[nodiscard]] unsigned moves_made() const { return moves_made_; }

 private:
  // False if all elements have the same digit and stay in place.
  bool pass(std::span<const std::byte> elements, const digit& now, std::byte* into) {
    const std::size_t size = moves_.size(), count = elements.size() / size;
    threads_.share(count, [&](unsigned thread, std::size_t begin, std::size_t end) {
      const std::span<std::uint64_t> counts = threads_.size() == 1 ? positions_.counts() : std::span(counts_[thread]);
      for (const std::byte* at = elements.data() + begin * size; at != elements.data() + end * size; at += size)
        ++counts[now(at)];
    });
    add_up_threads();
    const bool moves = positions_.find(next_[0]);
    if (moves) {
      moves_.begin(into);
      find_positions_of_threads();
      threads_.share(count, [&](unsigned thread, std::size_t begin, std::size_t end) {
        moves_.moving(threads_.size() == 1, [&](auto&& move) {
          scatter(elements.subspan(begin * size, (end - begin) * size), now, next_[thread], move);
        });
      });
      moves_.done();
    }
    for (auto& of_thread : counts_) std::ranges::fill(of_thread, 0);
    return moves;
  }

  void add_up_threads() {
    const std::span<std::uint64_t> all = positions_.counts();
    for (const auto& of_thread : counts_)
      for (std::size_t d = 0; d < of_thread.size(); ++d) all[d] += of_thread[d];
  }

  // A thread's elements of a digit follow those of earlier threads.
  void find_positions_of_threads() {
    for (std::size_t thread = 0; thread + 1 < counts_.size(); ++thread)
      for (std::size_t d = 0; d < next_[thread].size(); ++d) {
        const position& before = next_[thread][d];
        std::uint64_t pe = before.pe, offset = before.offset + counts_[thread][d];
        for (; offset >= shares_.block; ++pe) offset -= shares_.block;  // rarely runs: cheaper than a division
        next_[thread + 1][d] = {static_cast<std::uint32_t>(pe), static_cast<std::uint32_t>(offset)};
      }
  }

  template <class Move>
  void scatter(std::span<const std::byte> elements, const digit& now, std::vector<position>& next, Move& move) {
    const auto block = static_cast<std::uint32_t>(shares_.block);
    const std::byte* const end = elements.data() + elements.size();
    const std::size_t ahead = elements_ahead * moves_.size();
    for (const std::byte* at = elements.data(); at != end; at += moves_.size()) {
      if (static_cast<std::size_t>(end - at) > ahead) __builtin_prefetch(&next[now(at + ahead)], 1);
      position& to = next[now(at)];
      const position here = to;
      if (++to.offset == block) to = {to.pe + 1, 0};
      move(at, here.offset, static_cast<int>(here.pe));
    }
  }

  // Positions of digits are accessed at random, in more memory than the nearest cache has: they are prefetched this
  // early.
  static constexpr std::size_t elements_ahead = 16;

  element_form form_;
  unsigned digit_bits_;
  irregular::thread_pool& threads_;
  shares shares_;
  mover<Bytes>& moves_;
  positions positions_;
  std::vector<std::vector<position>> next_;         // by thread and digit
  std::vector<std::vector<std::uint64_t>> counts_;  // likewise, if there are several threads
  unsigned moves_made_ = 0;
};

}  // namespace radix_sort
