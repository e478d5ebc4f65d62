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

mapping segment::map_own(std::size_t bytes) {
  if (ftruncate(name_.fd, static_cast<off_t>(bytes)) != 0)
    throw error("create a symmetric heap of " + std::to_string(bytes) + " bytes", describe_errno(errno),
                "lower SHMEM_SYMMETRIC_SIZE");
  mapping own(name_.fd, bytes);
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
