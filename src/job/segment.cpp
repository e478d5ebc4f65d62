#include "job/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/pages.hpp"

namespace lull::job {

namespace {

// Reserves address space without memory.
void* reserve(std::size_t bytes) {
  void* const where = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return where == MAP_FAILED ? nullptr : where;
}

constexpr const char* fix =
    "run all PEs of a node as one user in one PID namespace, or set LULL_NODES so that they do not share memory";
std::string action_on(const segment_name& peer) {
  return "map the heap of the PE with process id " + std::to_string(peer.pid);
}

std::size_t with_guard(std::size_t bytes) { return round_up(bytes, page_size()) + page_size(); }

}  // namespace

mapping::mapping(int fd, std::size_t bytes, std::size_t offset, std::size_t alignment) {
  // Reserves enough address space to contain an aligned address, maps there, and frees the rest, except for the guard
  // page.
  alignment = std::max(alignment, page_size());
  std::size_t room = with_guard(bytes) + alignment;
  void* reserved = reserve(room);
  if (!reserved) {
    alignment = page_size();
    room = with_guard(bytes) + alignment;
    reserved = reserve(room);
  }
  const auto fail = [bytes](int code) {
    throw error("map " + std::to_string(bytes) + " bytes of shared memory", describe_errno(code),
                "lower SHMEM_SYMMETRIC_SIZE");
  };
  if (!reserved) fail(errno);
  auto* const begin = static_cast<std::byte*>(reserved);
  const std::size_t before = (alignment - (reinterpret_cast<std::uintptr_t>(begin) + offset) % alignment) % alignment;
  void* const where = mmap(begin + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (where == MAP_FAILED) {
    const int code = errno;
    munmap(reserved, room);
    fail(code);
  }
  data_ = begin + before;
  size_ = bytes;
  const std::size_t end = before + with_guard(bytes);
  if (before != 0) munmap(begin, before);
  if (end < room) munmap(begin + end, room - end);
}

mapping::~mapping() {
  if (data_) munmap(data_, with_guard(size_));
}

void mapping::shrink(std::size_t bytes) {
  const std::size_t kept = with_guard(bytes), had = with_guard(size_);
  if (kept >= had) return;
  // Protects the guard page first, so that between the two calls the page after the remaining part is never accessible.
  if (mprotect(data_ + kept - page_size(), page_size(), PROT_NONE) != 0)
    throw error("release shared memory", describe_errno(errno));
  munmap(data_ + kept, had - kept);
  size_ = bytes;
}

mapping::mapping(mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapping& mapping::operator=(mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void show_again(std::byte* pages, std::size_t bytes, std::byte* where) {
  // For a shared mapping, mremap with an old size of 0 creates a second one (mremap(2)). A direct system call, because
  // UCX replaces the library's function by one that fails with ENOMEM for that size.
  if (syscall(SYS_mremap, pages, std::size_t{0}, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, where) == -1)
    throw error("replace the symmetric heap by the network's memory", describe_errno(errno), "set LULL_RDMA=off");
}

segment::segment()
    : memory_(memfd_create("lull-heap", MFD_CLOEXEC)), name_{.pid = getpid(), .fd = memory_.get(), .nonce = 0} {
  if (!memory_) throw error("create the symmetric heap", describe_errno(errno));
  if (getrandom(&name_.nonce, sizeof name_.nonce, 0) != sizeof name_.nonce)
    throw error("create the symmetric heap", describe_errno(errno));
}

mapping segment::map_own(std::size_t bytes, std::size_t offset, std::size_t alignment) {
  if (ftruncate(name_.fd, static_cast<off_t>(bytes)) != 0)
    throw error("create a symmetric heap of " + std::to_string(bytes) + " bytes", describe_errno(errno),
                "lower SHMEM_SYMMETRIC_SIZE");
  mapping own(name_.fd, bytes, offset, alignment);
  std::memcpy(own.data(), &name_.nonce, sizeof name_.nonce);
  return own;
}

void segment::close() {
  memory_ = {};
  name_.fd = -1;
}

descriptor open_peer(const segment_name& peer, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(peer.pid) + "/fd/" + std::to_string(peer.fd);
  descriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) throw error(action_on(peer), path + ": " + describe_errno(errno), fix);
  struct stat found {};  // an access beyond the end of a mapped file raises SIGBUS
  if (fstat(fd.get(), &found) != 0 || found.st_size < static_cast<off_t>(bytes))
    throw error(action_on(peer), "another process has that id", fix);
  return fd;
}

mapping map_peer(const segment_name& peer, std::size_t bytes) {
  mapping theirs(open_peer(peer, bytes).get(), bytes);
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, theirs.data(), sizeof nonce);
  if (nonce != peer.nonce) throw error(action_on(peer), "another process has that id", fix);
  return theirs;
}

}  // namespace lull::job
