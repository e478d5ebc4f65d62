#include "fabric/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace lull::fabric {

mapping::mapping(int fd, std::size_t bytes) {
  void* const where = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (where == MAP_FAILED)
    throw error("map " + std::to_string(bytes) + " bytes of shared memory", describe_errno(errno),
                "lower SHMEM_SYMMETRIC_SIZE");
  data_ = static_cast<std::byte*>(where);
  size_ = bytes;
}

mapping::mapping(int fd, std::size_t bytes, std::size_t offset, std::size_t alignment) {
  // Reserves room in which such an address must be, maps there and gives the rest back.
  const std::size_t room = bytes + alignment;
  void* const reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    *this = mapping(fd, bytes);  // less aligned is better than not at all: an address space may be limited
    return;
  }
  auto* const begin = static_cast<std::byte*>(reserved);
  const std::size_t before = (alignment - (reinterpret_cast<std::uintptr_t>(begin) + offset) % alignment) % alignment;
  void* const where = mmap(begin + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (where == MAP_FAILED) {
    munmap(reserved, room);
    throw error("map " + std::to_string(bytes) + " bytes of shared memory", describe_errno(errno),
                "lower SHMEM_SYMMETRIC_SIZE");
  }
  data_ = begin + before;
  size_ = bytes;
  constexpr std::size_t page = 4096;
  const std::size_t end = (before + bytes + page - 1) / page * page;
  if (before != 0) munmap(begin, before);
  if (end < room) munmap(begin + end, room - end);
}

mapping::~mapping() {
  if (data_) munmap(data_, size_);
}

mapping::mapping(mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapping& mapping::operator=(mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

segment::segment() : name_{getpid(), memfd_create("lull-heap", MFD_CLOEXEC), 0} {
  if (name_.fd < 0) throw error("create the symmetric heap", describe_errno(errno));
  if (getrandom(&name_.nonce, sizeof name_.nonce, 0) != sizeof name_.nonce)
    throw error("create the symmetric heap", describe_errno(errno));
}

segment::~segment() { close(); }

mapping segment::map_own(std::size_t bytes, std::size_t offset, std::size_t alignment) {
  if (ftruncate(name_.fd, static_cast<off_t>(bytes)) != 0)
    throw error("create a symmetric heap of " + std::to_string(bytes) + " bytes", describe_errno(errno),
                "lower SHMEM_SYMMETRIC_SIZE");
  mapping own = alignment > 1 ? mapping(name_.fd, bytes, offset, alignment) : mapping(name_.fd, bytes);
  std::memcpy(own.data(), &name_.nonce, sizeof name_.nonce);
  return own;
}

void segment::close() {
  if (name_.fd >= 0) ::close(std::exchange(name_.fd, -1));
}

mapping map_peer(const segment_name& peer, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(peer.pid) + "/fd/" + std::to_string(peer.fd);
  const std::string asked = "map the heap of the PE with process id " + std::to_string(peer.pid);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    throw error(asked, path + ": " + describe_errno(errno),
                "run all PEs of a node as one user in one pid namespace, or set LULL_NODES so that they do not share");
  struct closer {
    int fd;
    ~closer() { ::close(fd); }
  } const close_at_end{fd};
  mapping theirs(fd, bytes);
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, theirs.data(), sizeof nonce);
  if (nonce != peer.nonce) throw error(asked, "another process answers to that id");
  return theirs;
}

}  // namespace lull::fabric
