// Memory that need not fit: blocks in a temporary file without a name, mapped. The kernel writes out what is not in use,
// and the file is gone with the process, however it ends. Blocks never move and are never given back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::netsim {

class spill_file {
 public:
  // In the folder for temporary files (TMPDIR). `asked` begins the errors about it.
  explicit spill_file(std::string asked);
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file();

  static constexpr std::size_t largest_block = 1 << 20;

  // Where a block begins: its size is a power of two of at most `largest_block`, which it is aligned to; all of it is 0.
  // Throws lull::error where the disk is full.
  [[nodiscard]] std::uint64_t allocate(std::size_t size);
  [[nodiscard]] std::byte* at(std::uint64_t where) const { return segments_[where / segment] + where % segment; }
  // A block that is not needed for some time leaves this process's memory, not the file.
  void rest(std::uint64_t block, std::size_t size) const;
  [[nodiscard]] std::uint64_t bytes() const { return used_; }

 private:
  static constexpr std::uint64_t segment = 64 << 20;  // mapped at once

  const std::string asked_;
  descriptor file_;
  std::uint64_t used_ = 0;
  std::uint64_t length_ = 0;  // of the file: has room on the disk
  std::vector<std::byte*> segments_;
};

}  // namespace lull::netsim
