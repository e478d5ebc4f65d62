// The table of wait policies. A new policy is a file in wait/policy/, its include and its row here. The rows give the
// values of LULL_WAIT, the names in reports, and the cases of waiting::wait().
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wait/awaited.hpp"
#include "wait/policy/adaptive.hpp"
#include "wait/policy/interrupt.hpp"
#include "wait/policy/poll.hpp"

// identifier, name, class, whether waits lower the core's frequency (when_to_lower)
#define LULL_WAIT_POLICIES(row)                                                                                    \
  row(poll, "poll", poll_policy, false) row(interrupt, "interrupt", interrupt_policy, false)                       \
      row(poll_dvfs, "poll+dvfs", poll_policy, true) row(interrupt_dvfs, "interrupt+dvfs", interrupt_policy, true) \
          row(adaptive, "adaptive", adaptive_policy, false)

namespace lull::wait {

#define LULL_IDENTIFIER(identifier, name, type, lowers) identifier,
#define LULL_NAME_OF_POLICY(identifier, name, type, lowers) name,
#define LULL_ALTERNATIVE(identifier, name, type, lowers) "|" name
#define LULL_LOWERS(identifier, name, type, lowers) lowers,
enum class wait_policy : std::uint8_t { LULL_WAIT_POLICIES(LULL_IDENTIFIER) };
constexpr auto wait_policy_names = std::to_array<std::string_view>({LULL_WAIT_POLICIES(LULL_NAME_OF_POLICY)});
constexpr const char* wait_policy_choices = &LULL_WAIT_POLICIES(LULL_ALTERNATIVE)[1];  // "a|b|c"
constexpr auto wait_policies_that_lower = std::to_array<bool>({LULL_WAIT_POLICIES(LULL_LOWERS)});
#undef LULL_LOWERS
#undef LULL_ALTERNATIVE
#undef LULL_NAME_OF_POLICY
#undef LULL_IDENTIFIER

[[nodiscard]] constexpr bool lowers_frequency(wait_policy p) {
  return wait_policies_that_lower[static_cast<std::size_t>(p)];
}

// The policy with this name, a value of LULL_WAIT; nothing if there is none.
[[nodiscard]] constexpr std::optional<wait_policy> wait_policy_named(std::string_view name) {
  for (std::size_t i = 0; i < wait_policy_names.size(); ++i)
    if (wait_policy_names[i] == name) return static_cast<wait_policy>(i);
  return std::nullopt;
}

enum class lowering { never, at_once, after_spin };

// A large transfer certainly takes long. A wait for a barrier or a flag may end at once, so it spins first.
[[nodiscard]] constexpr lowering when_to_lower(wait_policy policy, const awaited& what, const wait_limits& limits) {
  if (!lowers_frequency(policy) || is_small_transfer(what, limits)) return lowering::never;
  return is_large_transfer(what, limits) ? lowering::at_once : lowering::after_spin;
}

}  // namespace lull::wait
