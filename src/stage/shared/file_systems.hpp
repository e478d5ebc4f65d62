// What the kernel says of a file, and whether the nodes of a job can share it.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "stage/shared/directory.hpp"

namespace lull::stage {

// Empty: not a regular file. By a direct system call: a hook would wait for the file.
[[nodiscard]] std::optional<struct stat> status_of(const std::string& path);

// Whether a process of any node reads at once what a process of another has written. A file system that is not known to
// do so, such as NFS, does not.
[[nodiscard]] bool shows_writes_of_other_nodes(const std::string& path, const place_of_node& among);

// A pending entry before `before` for which a read of these bytes must wait; null: none. A hole belongs to the file as
// soon as something behind it has been handed over, so a read that would find the end of the file too early waits for
// that. With the lock of the directory.
[[nodiscard]] const file_entry* delays_read(const directory& of, int file, const range& bytes, std::uint64_t before);

}  // namespace lull::stage
