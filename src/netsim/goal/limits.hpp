// The largest numbers of a GOAL file, text or binary.
#pragma once
#include <cstdint>
#include <limits>

namespace lull::netsim {

struct goal_limits {
  static constexpr std::uint64_t ranks = std::uint64_t{1} << 24;
  static constexpr std::uint64_t nanoseconds = 1'000'000'000'000'000;  // the simulator's longest time
  static constexpr std::uint64_t bytes = std::uint64_t{1} << 53;
  static constexpr std::uint64_t tag = std::numeric_limits<std::uint32_t>::max() - 1;  // one more is `any`
  static constexpr std::uint64_t cpu = 255;                                            // also of nic
};

}  // namespace lull::netsim
