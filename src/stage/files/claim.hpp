// The place of a file from its creation by the program: the name exists from then on, as in a plain run, and the open
// descriptor identifies the file, whatever happens to its names and folders.
//
//   take_claim()        opens or creates the file without truncating it: its content stays until it is replaced
//   mark_under_way()    until the mark is lifted or all descriptors are closed, readers in other processes can wait
//   fill_claim()        writes the content there; replaces the file as a whole if that loses nothing else
//   withdraw()          there will be no content: removes an empty file that take_claim() has created
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "stage/files/whole_file.hpp"

namespace lull::stage {

struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};

struct claim {
  descriptor file;  // for reading and writing
  file_identity which;
  bool created = false;  // by take_claim()
};

// Like open(path, O_RDWR | O_CREAT, 0666), with O_EXCL if `exclusive`. Empty if that fails, and for anything that is no
// regular file or is a symbolic link: the program gets the error, or the file, from its own call.
[[nodiscard]] std::optional<claim> take_claim(const std::string& path, bool exclusive);

// Locks bytes beyond the end of any file. The lock belongs to the open file, that is, to all processes that share the
// descriptor.
void mark_under_way(int claimed) noexcept;
void lift_mark(int claimed) noexcept;
// Waits while another open file has marked the file of this descriptor. Safe in signal handlers. True: there was a
// mark.
bool wait_for_mark(int opened) noexcept;

// `where.path` is the name at the time of take_claim(). Throws lull::error with path and reason; then the old content
// is still there or, if the file could not be replaced as a whole, a part of the new one; a created file is removed.
void fill_claim(int content, const claim& place, const destination& where, bool sync);
void withdraw(const claim& place, const std::string& path) noexcept;

}  // namespace lull::stage
