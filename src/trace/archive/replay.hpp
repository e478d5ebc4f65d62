// The records of one process as events, those of each of its threads in the order of time.
#pragma once
#include <cstdint>
#include <functional>

#include "trace/archive/clocks.hpp"
#include "trace/archive/joined.hpp"
#include "trace/events.hpp"

namespace lull::trace {

// What could not be told as events.
struct left_over {
  std::uint64_t records = 0;           // that were read
  std::uint64_t unknown_requests = 0;  // completed, never posted
};

// `process`: its place in `all`. `beat` is called with the number of records now and then.
left_over replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to,
                 const std::function<void(std::uint64_t)>& beat = {});

}  // namespace lull::trace
