// What a PE waits for: the same three words (operation, bytes, peer) by which policies predict and statistics are kept.
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

// A policy, or none. Not std::optional: GCC 12 takes an empty one, copied, for uninitialised memory and says so.
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
  std::size_t bytes = 0;   // that the wait is for; 0 where that has no meaning
  int peer = -1;           // the PE it depends on; -1: several, or any
  policy_choice policy{};  // instead of this PE's, for contexts that have their own
  // Whether only this process's progress can end the wait (replies, acknowledgements, room to send), never a store of
  // another PE: then the waiting thread may sleep on the transport itself.
  bool by_messages_only = false;
  // 0: as the policy says. Else the wait may end at a moment, of which nobody tells: no sleep is longer than this.
  std::int64_t longest_sleep_ns = 0;
  // Whether a store of the program into this PE's memory can end the wait; a meeting of the runtime ends otherwise.
  bool by_stores = true;
  // Where in the program it is waited for, hashed; 0: nobody can tell.
  std::uint64_t site = 0;
  // The memory whose change is awaited, so that writes elsewhere disturb nobody; empty: any.
  std::span<const std::byte> where{};
  // What alone ends the wait, if there is such a thing: then nothing else wakes the thread.
  completion_flag* ends_with = nullptr;
};

}  // namespace lull::wait
