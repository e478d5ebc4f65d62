// Which processes wait for which when no event is left: one line that says why a program does not end.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

// What a process waits for: another process, or `any` if that is unknown; and in words, such as "a message of rank 1
// (tag 5)". Without words it does not wait.
struct process_wait {
  std::uint32_t on = any;
  std::string what;
};

// Names, by rank, a cycle of processes that wait for each other; if there is none, those that wait for a process that
// has ended; otherwise the first ones. Limited to one line. Empty if no process waits.
[[nodiscard]] std::string in_words(std::span<const process_wait> waits);

}  // namespace lull::netsim
