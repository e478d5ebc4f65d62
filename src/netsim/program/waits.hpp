// Who waits for whom when nothing happens any more: the line that says why a program does not end.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

// What a process waits for: another process, or `any` where that cannot be said; and in words, such as "a message of
// rank 1 (tag 5)". No words: it does not wait.
struct process_wait {
  std::uint32_t on = any;
  std::string what;
};

// By rank: a circle of processes that wait for each other, if there is one, else those that wait for a process that has
// ended, else the first; not more than a line can hold. Empty where nobody waits.
[[nodiscard]] std::string in_words(std::span<const process_wait> waits);

}  // namespace lull::netsim
