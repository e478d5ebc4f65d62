// Files that get their name only when they are complete: written without a name (O_TMPFILE) or, where the file system
// does not support that, under a temporary one in the same folder; then synced on request; then named.
//
// A writer that is killed leaves nothing behind or, in the latter case, one file .lull-stage-MARK; the process that
// writes the file in its place removes that first.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.hpp"

namespace lull::stage {

// The final state of a file.
struct destination {
  std::string path;        // from final_path_of()
  bool exclusive = false;  // an existing file must not be replaced
  std::string mark;        // for its temporary name; unique across files and jobs
};

// The absolute path, without symbolic links, of the file that opening `path` for writing would create or replace. Empty
// if there can be none: then the program's own open() returns the error.
[[nodiscard]] std::optional<std::string> final_path_of(const std::string& path);

// A file before it has its name, for a writer that produces the content piece by piece: constructed → written through
// its descriptor → take_name(). Without take_name() nothing of it remains. A replaced file keeps its mode and owner.
// Throws lull::error with path and reason.
class nameless_file {
 public:
  explicit nameless_file(destination where);
  ~nameless_file();
  nameless_file(const nameless_file&) = delete;
  nameless_file& operator=(const nameless_file&) = delete;

  [[nodiscard]] int get() const { return file_.get(); }  // for reading and writing
  void take_name(bool sync);

 private:
  void open();
  bool link_to(const std::string& path) const;

  destination where_;
  std::string temporary_;
  descriptor file_;
  bool temporary_exists_ = false;
};

[[nodiscard]] std::string folder_of(const std::string& path);

// Gives the file `to` the content of the descriptor `content`; holes stay holes. Throws lull::error, which names
// `path`.
void copy_whole(int content, int to, const std::string& path);

// Writes the whole content of the descriptor `content`; holes stay holes. A replaced file keeps its mode and owner.
// Throws lull::error with path and reason; then nothing has changed.
void write_whole_file(int content, const destination& where, bool sync);

// Removes what a killed process may have left while writing there.
void remove_leftover(const destination& where);

}  // namespace lull::stage
