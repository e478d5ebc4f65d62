// A file's place, from the moment at which the program creates it: the name exists from then on, as in a plain run, and the
// open descriptor says which file it is, whatever becomes of its names and folders.
//
//   take()            opens or creates the file, without truncating it: what it held stays until it is replaced
//   mark_under_way()  from here until the mark is lifted or all descriptors are closed, readers of other processes can wait
//   fill_claim()      writes the content there; the file is replaced as a whole where that changes nothing else
//   withdraw()        there will be no content: an empty file that take() has created goes away
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
  descriptor file;  // to be read and written
  file_identity which;
  bool created = false;  // by take()
};

// As open(path, O_RDWR | O_CREAT, 0666) does it, with O_EXCL if so asked. Nothing where that fails, and for all that is no
// regular file, or is reached by a symbolic link of that name: the program meets it itself.
[[nodiscard]] std::optional<claim> take_claim(const std::string& path, bool exclusive);

// By a lock on bytes that no file has. It belongs to the open file: to all who share the descriptor, also other processes.
void mark_under_way(int claimed) noexcept;
void lift_mark(int claimed) noexcept;
// Waits while another open file marks the one of this descriptor. Safe in signal handlers. True: there was a mark.
bool wait_for_mark(int opened) noexcept;

// `where.path` is the name at the time of take(). Throws lull::error naming path and reason: then the old content is still
// there, or, where the file could not be replaced as a whole, part of the new one; a created file is gone.
void fill_claim(int content, const claim& place, const destination& where, bool sync);
void withdraw(const claim& place, const std::string& path) noexcept;

}  // namespace lull::stage
