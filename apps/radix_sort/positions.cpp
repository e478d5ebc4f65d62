#include "radix_sort/positions.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>

namespace radix_sort {
namespace {

std::size_t all_pes() { return static_cast<std::size_t>(shmem_n_pes()); }

}  // namespace

shares::shares(std::uint64_t of_all, int pes)
    : total(of_all), block((of_all + static_cast<std::uint64_t>(pes) - 1) / static_cast<std::uint64_t>(pes)) {}

std::uint64_t shares::begin(int pe) const { return std::min(total, block * static_cast<std::uint64_t>(pe)); }

positions::positions(std::size_t digits, const shares& all)
    : shares_(all),
      pes_(all_pes()),
      share_((digits + pes_ - 1) / pes_),
      counts_(pes_ * share_, fmt::format("the counts of {} digits", digits)),
      theirs_(pes_ * share_, fmt::format("the counts of {} digits", digits)),
      sum_(1, "a sum"),
      sums_(pes_, "sums") {}

bool positions::find(std::span<position> first) {
  const auto me = static_cast<std::size_t>(shmem_my_pe());
  shmem_uint64_alltoall(SHMEM_TEAM_WORLD, theirs_.data(), counts_.data(), share_);

  std::uint64_t elements = 0;
  bool is_one_digit = false;
  for (std::size_t i = 0; i < share_; ++i) {
    const std::uint64_t before = elements;
    for (std::size_t pe = 0; pe < pes_; ++pe) {
      const std::uint64_t count = theirs_[pe * share_ + i];
      theirs_[pe * share_ + i] = elements;
      elements += count;
    }
    is_one_digit = is_one_digit || elements - before == shares_.total;
  }
  sum_[0] = {elements, is_one_digit};
  shmem_fcollectmem(SHMEM_TEAM_WORLD, sums_.data(), sum_.data(), sizeof(block_sum));
  std::uint64_t base = 0;
  for (std::size_t pe = 0; pe < pes_; ++pe) {
    if (pe < me) base += sums_[pe].elements;
    is_one_digit = is_one_digit || sums_[pe].is_one_digit != 0;
  }
  if (is_one_digit) {
    std::ranges::fill(counts_.all(), 0);
    return false;
  }

  for (std::uint64_t& at : theirs_.all()) at += base;
  shmem_uint64_alltoall(SHMEM_TEAM_WORLD, counts_.data(), theirs_.data(), share_);
  std::uint64_t pe = 0;  // they ascend, so no division is needed
  for (std::size_t digit = 0; digit < first.size(); ++digit) {
    while (counts_[digit] >= (pe + 1) * shares_.block) ++pe;
    first[digit] = {static_cast<std::uint32_t>(pe), static_cast<std::uint32_t>(counts_[digit] - pe * shares_.block)};
  }
  std::ranges::fill(counts_.all(), 0);
  return true;
}

}  // namespace radix_sort
