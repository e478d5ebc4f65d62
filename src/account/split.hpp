// Divides a whole number among weights without losing or inventing anything.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lull::account {

// Parts of `whole` >= 0 in proportion to `weights` >= 0, which add up to exactly `whole`: each is the proportion rounded
// down, and the largest remainders, the first of equals, get one more. All are 0 if every weight is.
[[nodiscard]] std::vector<std::int64_t> split(std::int64_t whole, std::span<const std::int64_t> weights);

}  // namespace lull::account
