// Folds the windows of a thread and writes what comes of it (folding/folded_file.hpp). Most windows of a regular program
// only change the running state, which is mapped.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "trace/folding/folded_file.hpp"
#include "trace/folding/folder.hpp"

namespace lull::trace {

class folded_writer {
 public:
  // Appends bytes to the file; returns false if it cannot.
  using append = std::function<bool(const void* from, std::size_t bytes)>;

  // `state` is mapped while this exists. Writes the header of the file; is_open() says whether that succeeded.
  folded_writer(folding::running_state& state, std::uint64_t thread, append to);
  [[nodiscard]] bool is_open() const { return is_open_; }

  // Folds a window. Returns how many of its records it took, all but perhaps the last one; -1: the file cannot be
  // extended, and the window must stay as it is. May throw std::bad_alloc, which means the same.
  [[nodiscard]] std::ptrdiff_t take(std::span<const record> window, bool has_several_logs, bool is_last);
  // The window is empty, but for the records that were not taken.
  void next_window();
  // The file is whole; no more windows.
  [[nodiscard]] bool finish();

 private:
  using part = folding::running_state::part;

  [[nodiscard]] part& next_part() { return state_.parts[1 - state_.valid]; }
  void publish();
  [[nodiscard]] bool write_chunk(folding::chunk what, std::span<const std::uint8_t> content);
  [[nodiscard]] bool write_behind();

  folding::running_state& state_;
  append append_;
  folding::folder folder_;
  std::uint64_t file_bytes_ = 0;
  bool is_open_ = false;
};

}  // namespace lull::trace
