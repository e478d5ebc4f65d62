#include "fabric/memory/static_data.hpp"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/pages.hpp"

namespace lull::fabric {
namespace {

// What a forked child, or another move, needs to make its copy; set before any fork that matters.
struct moved {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  int fd = -1;
  std::size_t offset = 0;
} shared_now;

// A system call, because a library call on the program's variables would read a sanitizer's red zones.
bool copy_to_file(int fd, std::size_t at, const std::byte* from, std::size_t bytes) {
  while (bytes != 0) {  // a call writes at most 2 GiB
    const long written = syscall(SYS_pwrite64, fd, from, bytes, at);
    if (written <= 0) return false;
    from += written;
    at += static_cast<std::size_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

// Copies the part that the file initialises. Of the rest it copies only pages that this process has touched, because a
// large .bss must not become memory.
bool copy_touched(const static_range& where, int fd, std::size_t offset) {
  const std::size_t page = page_size();
  const descriptor map(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  bool copied = true;
  for (std::size_t at = 0; at < where.bytes && copied; at += page) {
    constexpr std::uint64_t present_or_swapped = 3ULL << 62U;
    std::uint64_t entry = present_or_swapped;
    const auto place = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(where.begin + at) / page * sizeof entry);
    if (at >= where.from_file && map && pread(map.get(), &entry, sizeof entry, place) != sizeof entry)
      entry = present_or_swapped;
    if ((entry & present_or_swapped) != 0) copied = copy_to_file(fd, offset + at, where.begin + at, page);
  }
  return copied;
}

// Calls visit(begin, end) for each part of the file that has been written, relative to the begin of the shared pages.
template <class Visit>
void for_written(const moved& of, Visit&& visit) {
  const auto begin = static_cast<off_t>(of.offset);
  const auto end = begin + static_cast<off_t>(of.bytes);
  for (off_t data = lseek(of.fd, begin, SEEK_DATA); data >= 0 && data < end;) {
    const off_t hole = std::min(lseek(of.fd, data, SEEK_HOLE), end);
    visit(static_cast<std::size_t>(data - begin), static_cast<std::size_t>(hole - begin));
    data = lseek(of.fd, hole, SEEK_DATA);
  }
}

// Pages that are shared already may have been written by other PEs only, so their file says which have content.
bool copy_shared(int fd, std::size_t offset) {
  bool copied = true;
  for_written(shared_now, [&](std::size_t from, std::size_t to) {
    copied = copied && copy_to_file(fd, offset + from, shared_now.begin + from, to - from);
  });
  return copied;
}

// Runs in the child of a fork: replaces the shared pages by private ones, filled from their file.
void make_private_copy() {
  if (shared_now.bytes == 0) return;
  const moved from = std::exchange(shared_now, {});  // later forks of the child copy these as usual
  if (mmap(from.begin, from.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    _exit(1);  // out of memory: the child cannot report it
  for_written(from, [&](std::size_t begin, std::size_t end) {
    syscall(SYS_pread64, from.fd, from.begin + begin, end - begin, from.offset + begin);
  });
  close(from.fd);
}

}  // namespace

static_range find_static_data() {
  static_range found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        auto& range = *static_cast<static_range*>(result);
        std::uintptr_t begin = 0, end = 0, file_end = 0, read_only_end = 0;
        std::uint64_t identity = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          identity = hash_with(hash_with(hash_with(identity, part.p_vaddr), part.p_memsz), part.p_filesz);
          const std::uintptr_t from = object->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
            begin = from;
            end = from + part.p_memsz;
            file_end = from + part.p_filesz;
          } else if (part.p_type == PT_GNU_RELRO) {
            read_only_end = from + part.p_memsz;
          }
        }
        begin = round_down(std::max(begin, read_only_end), page_size());
        end = round_up(end, page_size());
        if (begin < end) {
          range.begin = reinterpret_cast<std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr)
          range.bytes = end - begin;
          range.from_file = file_end > begin ? file_end - begin : 0;
          range.identity = identity;
        }
        return 1;  // the first object is the executable
      },
      &found);
  return found;
}

void move_static_data(const static_range& where, int fd, std::size_t offset) {
  descriptor kept(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!kept) throw error("share the program's static variables", describe_errno(errno));
  // A write by another thread between this copy and the return of mmap would be lost; OpenSHMEM programs start their
  // threads after shmem_init.
  const bool first = shared_now.bytes == 0;  // not moved by an earlier shmem_init
  if (!(first ? copy_touched(where, fd, offset) : copy_shared(fd, offset)) ||
      mmap(where.begin, where.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset)) ==
          MAP_FAILED)
    throw error("share the program's static variables", describe_errno(errno), "set LULL_STATIC_DATA=private");
  if (!first) close(shared_now.fd);
  shared_now = {where.begin, where.bytes, kept.release(), offset};
  if (first) pthread_atfork(nullptr, nullptr, make_private_copy);
}

}  // namespace lull::fabric
