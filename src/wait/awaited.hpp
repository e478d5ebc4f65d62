// The description of a wait. Policies predict, and statistics count, by operation, bytes and peer.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lull::wait {

enum class wait_policy : std::uint8_t;  // how to wait: policies.hpp
class completion_flag;

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

// A policy, or none. It is no std::optional because GCC 12 warns of uninitialised memory where an empty one is copied.
class policy_choice {
 public:
  constexpr policy_choice() = default;
  constexpr policy_choice(wait_policy p)
      : index_(static_cast<std::uint8_t>(p)) {}            // NOLINT(google-explicit-constructor)
  constexpr policy_choice(std::optional<wait_policy> p) {  // NOLINT(google-explicit-constructor)
    if (p) index_ = static_cast<std::uint8_t>(*p);
  }
  [[nodiscard]] constexpr wait_policy value_or(wait_policy other) const {
    return index_ == none ? other : static_cast<wait_policy>(index_);
  }

 private:
  static constexpr std::uint8_t none = 255;
  std::uint8_t index_ = none;
};

struct awaited {
  operation what;
  std::size_t bytes = 0;   // of the operation; 0 if it has no size
  int peer = -1;           // the PE that ends the wait; -1: several, or any
  policy_choice policy{};  // of the context; none: that of the PE
  // Whether only progress of this process can end the wait (a reply, an acknowledgement, space to send), and never a
  // store of another PE. The thread may then sleep on the transport itself.
  bool by_messages_only = false;
  // The longest single sleep, for waits that may end without a wake-up; 0: as long as the policy allows.
  std::int64_t longest_sleep_ns = 0;
  // Whether a store of the program into this PE's memory can end the wait. It cannot end a barrier of the runtime.
  bool by_stores = true;
  // A hash of the call site in the program; 0: unknown.
  std::uint64_t site = 0;
  // The memory whose change ends the wait, so that writes elsewhere do not wake the thread; empty: any memory.
  std::span<const std::byte> where{};
  // If set, this flag alone ends the wait, and nothing else wakes the thread.
  completion_flag* ends_with = nullptr;
};

}  // namespace lull::wait
