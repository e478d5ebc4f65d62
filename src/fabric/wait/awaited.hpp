// What a PE waits for: the same three words (operation, bytes, peer) by which policies predict and statistics are kept.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lull::fabric {

enum class wait_policy : std::uint8_t { poll, interrupt };

// As LULL_WAIT spells them.
inline std::optional<wait_policy> policy_named(std::string_view name) {
  if (name == "poll") return wait_policy::poll;
  if (name == "interrupt") return wait_policy::interrupt;
  return std::nullopt;
}

enum class operation : std::uint8_t {
  put,
  get,
  atomic,
  strided,
  accumulate,
  signal,
  quiet,
  barrier,
  collective,
  wait_until,
  lock,
  aggregate,
};
constexpr std::array<std::string_view, 12> operation_names{"put",        "get",        "atomic", "strided",
                                                           "accumulate", "signal",     "quiet",  "barrier",
                                                           "collective", "wait until", "lock",   "aggregate"};

struct awaited {
  operation what;
  std::size_t bytes = 0;                // that the wait is for; 0 where that has no meaning
  int peer = -1;                        // the PE it depends on; -1: several, or any
  std::optional<wait_policy> policy{};  // instead of this PE's, for contexts that have their own
};

}  // namespace lull::fabric
