#include "account/split.hpp"

#include <algorithm>
#include <numeric>

namespace lull::account {

std::vector<std::int64_t> split(std::int64_t whole, std::span<const std::int64_t> weights) {
  __extension__ using wide = __int128;  // a product of two 64-bit numbers
  std::vector<std::int64_t> parts(weights.size(), 0);
  const wide sum = std::accumulate(weights.begin(), weights.end(), wide{0});
  if (sum <= 0) return parts;
  std::vector<wide> remainders(weights.size());
  std::int64_t left = whole;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const wide product = wide{whole} * weights[i];
    parts[i] = static_cast<std::int64_t>(product / sum);
    remainders[i] = product % sum;
    left -= parts[i];
  }
  if (left == 0) return parts;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[order[i]];  // left < number of positive remainders
  return parts;
}

}  // namespace lull::account
