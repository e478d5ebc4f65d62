// Reads an OTF2 archive, written by Lull or another tool (Score-P), or a merged trace (recorded_events.hpp), from
// begin to end in order of time. Memory does not grow with the length of the trace: for each location it holds a piece
// of its file and a few hundred events.
//
//   archive_reader archive(folder_or_anchor);
//   archive.all();                      the definitions
//   archive.open();                     opens the events; from here on, begin and length in all() are those of the
//                                       events
//   archive.read(visitor);              passes on every event that events.hpp defines
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/events.hpp"

namespace lull::trace {

// The anchor of an archive, FILE.otf2, or a merged trace: the path itself, or the only one in a folder, where an
// archive precedes a merged trace. Throws lull::error.
[[nodiscard]] std::filesystem::path find_anchor(const std::filesystem::path& path);

// Gets the number of events read, and their total. Returns false to stop.
using reading_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

class recorded_events;

class archive_reader {
 public:
  explicit archive_reader(const std::filesystem::path& path);
  ~archive_reader();
  archive_reader(const archive_reader&) = delete;
  archive_reader& operator=(const archive_reader&) = delete;

  [[nodiscard]] const definitions& all() const;
  // What is missing in a merged trace, one line each; complete after read().
  [[nodiscard]] std::vector<std::string> remarks() const;
  // For callers that need begin and length before the events. Throws as read() does.
  void open();
  // Call once; opens the events if open() has not. Times are nanoseconds since all().begin_ns. Throws lull::error if
  // the archive is damaged, or `progress` stopped it.
  void read(event_visitor& to, const reading_progress& progress = {});

 private:
  struct state;
  std::unique_ptr<state> state_;               // of an archive
  std::unique_ptr<recorded_events> recorded_;  // of a merged trace
};

}  // namespace lull::trace
