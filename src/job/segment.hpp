// A piece of memory that PEs of one node share and that no crash can leave behind: a memfd, which has no name and lives
// as long as somebody maps it.
//
// The owner creates it and tells {pid, fd, nonce} to its peers; a peer opens /proc/PID/fd/FD, maps it and checks that
// the nonce stands at its beginning (a reused pid or another pid namespace would show). When all have mapped, the owner
// closes the descriptor.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace lull::job {

// An owned mmap. The page behind it is nobody's: whoever runs past its end is ended there by SIGSEGV, and does not
// write into what happens to be mapped next.
class mapping {
 public:
  mapping() = default;
  // So that the byte number `offset` stands at a multiple of `alignment`, a power of two; less aligned when the address
  // space has no room for that.
  explicit mapping(int fd, std::size_t bytes, std::size_t offset = 0, std::size_t alignment = 1);
  ~mapping();
  mapping(mapping&& other) noexcept;
  mapping& operator=(mapping&& other) noexcept;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void shrink(std::size_t bytes);  // to so many: the rest becomes nobody's, too

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Shows shared pages of this process at a second place, too, which must be its own: what is written at one of them is
// at the other. They stay there when the first is unmapped.
void show_again(std::byte* pages, std::size_t bytes, std::byte* where);

struct segment_name {
  pid_t pid;
  int fd;
  std::uint64_t nonce;
};

class segment {
 public:
  segment();  // an empty one, open for peers
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  [[nodiscard]] segment_name name() const { return name_; }
  // Gives it its size, maps it so that the byte number `offset` stands at a multiple of `alignment`, and writes the
  // nonce into its first 8 bytes.
  [[nodiscard]] mapping map_own(std::size_t bytes, std::size_t offset = 0, std::size_t alignment = 1);
  void close();  // when all peers have mapped it

 private:
  descriptor memory_;
  segment_name name_;
};

// Maps a peer's segment. Throws lull::error when it cannot be opened or is not the one named.
[[nodiscard]] mapping map_peer(const segment_name& peer, std::size_t bytes);

}  // namespace lull::job
