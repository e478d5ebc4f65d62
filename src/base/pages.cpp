#include "base/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

namespace lull {

int allocate_pages(int file, std::size_t bytes, std::size_t begin) noexcept {
  int failed = 0;
  do {
    failed = posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  } while (failed == EINTR);  // a timer signal of the program
  return failed;
}

void* map_pages(int file, std::size_t bytes, int& failed) noexcept {
  failed = allocate_pages(file, bytes);
  if (failed != 0) return nullptr;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    failed = errno;
    return nullptr;
  }
#ifdef MADV_POPULATE_WRITE
  // EFAULT: a file system that allocates blocks only on writing has no space. Kernels before 5.14 do not support this
  // advice.
  if (madvise(mapped, bytes, MADV_POPULATE_WRITE) != 0 && errno == EFAULT) {
    munmap(mapped, bytes);
    failed = ENOSPC;
    return nullptr;
  }
#endif
  return mapped;
}

}  // namespace lull
