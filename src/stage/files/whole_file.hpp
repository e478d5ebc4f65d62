// Files that have their name only when they are whole: written without a name (O_TMPFILE), or where the file system
// cannot do that under a temporary one in the same folder, then synced if so wanted, then named.
//
// Who is killed meanwhile leaves nothing behind, or, in the latter case, one file .lull-stage-MARK; who writes the file in
// its place removes that first.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.hpp"

namespace lull::stage {

// What the file shall be.
struct destination {
  std::string path;        // from final_path_of()
  bool exclusive = false;  // an existing file must not be replaced
  std::string mark;        // for its temporary name; no other file's, of any job
};

// The absolute path, without symbolic links, of the file that opening `path` for writing would create or replace. Nothing
// where there can be none: then who opens it meets the reason.
[[nodiscard]] std::optional<std::string> final_path_of(const std::string& path);

// A file on its way to its name, for who makes its content bit by bit: constructed → written by its descriptor → take_name().
// Without the last nothing of it remains. A file that is replaced keeps its mode and owner. Throws lull::error naming path
// and reason.
class nameless_file {
 public:
  explicit nameless_file(destination where);
  ~nameless_file();
  nameless_file(const nameless_file&) = delete;
  nameless_file& operator=(const nameless_file&) = delete;

  [[nodiscard]] int get() const { return file_.get(); }  // to be read and written
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

// Makes the file `to` one with the content of the descriptor `content`; holes stay holes. Throws lull::error naming `path`.
void copy_whole(int content, int to, const std::string& path);

// Writes what the descriptor `content` holds from its beginning to its end; holes stay holes. A file that is replaced keeps
// its mode and owner. Throws lull::error naming path and reason; then nothing has changed.
void write_whole_file(int content, const destination& where, bool sync);

// Removes what a process that was killed while writing there may have left.
void remove_leftover(const destination& where);

}  // namespace lull::stage
