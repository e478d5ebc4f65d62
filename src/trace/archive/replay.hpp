// Converts the records of one process to events; those of each thread are in order of time.
#pragma once
#include <cstdint>
#include <functional>

#include "trace/archive/clocks.hpp"
#include "trace/archive/joined.hpp"
#include "trace/events.hpp"

namespace lull::trace {

// What could not be converted to events.
struct left_over {
  std::uint64_t records = 0;           // number of records read
  std::uint64_t unknown_requests = 0;  // completed, but never posted
  bool is_damaged = false;             // not all records could be read
};

// `process`: its index in `all`. `beat` is called with the number of records from time to time.
left_over replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to,
                 const std::function<void(std::uint64_t)>& beat = {});

}  // namespace lull::trace
