// Memory that PEs of one node share and that no crash can leave behind: a memfd, which has no name and exists as long
// as a process maps it.
//
// The owner creates it and sends {pid, fd, nonce} to its peers. A peer opens /proc/PID/fd/FD, maps it and checks the
// nonce at its beginning, which detects a reused pid or another pid namespace. When all have mapped it, the owner
// closes the descriptor.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace lull::job {

// An owned mmap, followed by a guard page: a write beyond its end raises SIGSEGV instead of changing the next mapping.
class mapping {
 public:
  mapping() = default;
  // Places byte number `offset` at a multiple of `alignment`, a power of two; with a smaller alignment if the address
  // space is too small.
  explicit mapping(int fd, std::size_t bytes, std::size_t offset = 0, std::size_t alignment = 1);
  ~mapping();
  mapping(mapping&& other) noexcept;
  mapping& operator=(mapping&& other) noexcept;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void shrink(std::size_t bytes);  // the rest becomes inaccessible

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Maps shared pages of this process at a second address range of the process as well: a write to either is visible in
// both. The second mapping remains when the first is unmapped.
void show_again(std::byte* pages, std::size_t bytes, std::byte* where);

struct segment_name {
  pid_t pid;
  int fd;
  std::uint64_t nonce;
};

class segment {
 public:
  segment();  // empty; peers can open it
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  [[nodiscard]] segment_name name() const { return name_; }
  // Sets its size, maps it with byte number `offset` at a multiple of `alignment`, and writes the nonce to its first
  // 8 bytes.
  [[nodiscard]] mapping map_own(std::size_t bytes, std::size_t offset = 0, std::size_t alignment = 1);
  void close();  // call when all peers have mapped it

 private:
  descriptor memory_;
  segment_name name_;
};

// Opens a peer's segment. Throws lull::error if it cannot be opened or has fewer bytes: another file may have its name.
[[nodiscard]] descriptor open_peer(const segment_name& peer, std::size_t bytes);
// Maps a peer's segment. Throws lull::error if it cannot be opened or has another nonce.
[[nodiscard]] mapping map_peer(const segment_name& peer, std::size_t bytes);

}  // namespace lull::job
