// Files that processes map and share: their pages are there before anybody uses them. Without that, memory that the kernel
// does not have (a full /dev/shm, whose default in a container is 64 MB) is a SIGBUS at some store later.
//
//   int failed = allocate_pages(file, bytes);             the file has so many bytes, and blocks for all of them
//   void* at = map_pages(file, bytes, failed);            mapped, and each page is there; null: `failed` is an errno
#pragma once
#include <cstddef>

namespace lull {

// 0 or errno; ENOSPC where there is no room. What was in the file stays.
[[nodiscard]] int allocate_pages(int file, std::size_t bytes) noexcept;

// Allocates, maps for reading and writing, and touches each page. Null, with `failed`, where one of that fails.
[[nodiscard]] void* map_pages(int file, std::size_t bytes, int& failed) noexcept;

}  // namespace lull
