// Reads an archive in OTF2, of Lull or of another tool (Score-P), from its begin to its end in the order of time. Memory
// does not grow with the length of the trace: of each location a piece of its file and a few hundred events are held.
//
//   archive_reader archive(folder_or_anchor);
//   archive.all();                      what is defined
//   archive.open();                     opens the events: from here on begin and length in all() are those of the events
//   archive.read(visitor);              every event that events.hpp has a word for
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "trace/events.hpp"

namespace lull::trace {

// The anchor, FILE.otf2, of an archive: the path itself, or the only one in a folder. Throws lull::error.
[[nodiscard]] std::filesystem::path find_anchor(const std::filesystem::path& path);

// Events read and their number. False: stop.
using reading_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

class archive_reader {
 public:
  explicit archive_reader(const std::filesystem::path& path);
  ~archive_reader();
  archive_reader(const archive_reader&) = delete;
  archive_reader& operator=(const archive_reader&) = delete;

  [[nodiscard]] const definitions& all() const;
  // For who needs begin and length before the events. Throws as read() does.
  void open();
  // Once; opens the events where open() has not. Times are nanoseconds since all().begin_ns. Throws lull::error where the archive is damaged, or was stopped.
  void read(event_visitor& to, const reading_progress& progress = {});

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lull::trace
