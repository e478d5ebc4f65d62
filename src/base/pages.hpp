// Pages of memory: 4 KiB on most machines, 16 or 64 KiB on others. Mappings begin and end at page boundaries.
//
// The pages of files that processes share are allocated before they are used. Otherwise memory that the kernel does not
// have (a full /dev/shm, whose default in a container is 64 MB) raises a SIGBUS at a later store.
//
//   int failed = allocate_pages(file, bytes);             sets the size of the file, and allocates all its blocks
//   void* at = map_pages(file, bytes, failed);            maps it, and touches each page; null: `failed` is an errno
#pragma once
#include <unistd.h>

#include <cstddef>

namespace lull {

// Bytes of a page on this machine; a power of two.
[[nodiscard]] inline std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The next multiple of `step`, a power of two, that is not below (round_up) or not above (round_down) `value`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) & ~(step - 1);
}
[[nodiscard]] constexpr std::size_t round_down(std::size_t value, std::size_t step) { return value & ~(step - 1); }

// From byte `begin` of the file on. Returns 0 or errno; ENOSPC if there is no space. The content of the file stays.
[[nodiscard]] int allocate_pages(int file, std::size_t bytes, std::size_t begin = 0) noexcept;

// Allocates, maps for reading and writing, and touches each page. Returns null and sets `failed` on failure.
[[nodiscard]] void* map_pages(int file, std::size_t bytes, int& failed) noexcept;

}  // namespace lull
