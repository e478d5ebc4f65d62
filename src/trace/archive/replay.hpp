// Converts the records of one process to events; those of each thread are in order of time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

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

// A process, call by call.
class process_replay {
 public:
  // `process`: its index in `all`. What is passed must outlive it.
  process_replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to);
  process_replay(process_replay&&) noexcept;
  process_replay& operator=(process_replay&&) = delete;
  ~process_replay();

  // Passes on the events of the call that ends next; after the last call, those of its end. Returns false if there are
  // no more.
  bool step();
  // No event of this location that is still to come has an earlier time; the largest number if none will come.
  [[nodiscard]] std::uint64_t earliest(std::uint32_t location) const;
  [[nodiscard]] left_over result() const;

 private:
  class player;
  std::unique_ptr<player> player_;
};

// The whole of it. `process`: its index in `all`. `beat` is called with the number of records from time to time.
left_over replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to,
                 const std::function<void(std::uint64_t)>& beat = {});

}  // namespace lull::trace
