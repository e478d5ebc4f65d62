// The events of a merged trace, in order of time over all processes, as those of the archive that could be made of it.
// No archive is made: processes are replayed side by side (replay.hpp), each from its class and its times. Memory does
// not grow with the length of the trace, unless a thread calls while another thread of its process is in one long call.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/events.hpp"

namespace lull::trace {

class recorded_events {
 public:
  // Reads the definitions. Throws lull::error if it is no merged trace.
  explicit recorded_events(const std::filesystem::path& path);
  recorded_events(const recorded_events&) = delete;
  recorded_events& operator=(const recorded_events&) = delete;
  ~recorded_events();

  [[nodiscard]] const definitions& all() const;
  // What is missing, one line each; complete after open().
  [[nodiscard]] const std::vector<std::string>& remarks() const;
  // Replays all processes once, to find where the trace begins and ends, and how many events it has.
  void open();
  // Call once, after open(). Times are nanoseconds since all().begin_ns. `progress` gets the number of events read, and
  // their total; if it returns false, lull::error is thrown.
  void read(event_visitor& to, const std::function<bool(std::uint64_t, std::uint64_t)>& progress);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lull::trace
