// Storage that need not fit into memory: blocks in an unnamed, mapped temporary file. The kernel writes out what is not
// in use, and the file disappears with the process, however it ends. Blocks never move and are never freed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::netsim {

class spill_file {
 public:
  // Creates it in the folder for temporary files (TMPDIR). `action` starts the error messages.
  explicit spill_file(std::string action);
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file();

  static constexpr std::size_t largest_block = 1 << 20;

  // Returns the address of a block of zeros. Its size is a power of two of at most `largest_block`, and its alignment.
  // Throws lull::error if the disk is full.
  [[nodiscard]] std::uint64_t allocate(std::size_t size);
  [[nodiscard]] std::byte* at(std::uint64_t where) const { return segments_[where / segment] + where % segment; }
  // Removes a block that is not needed for some time from this process's memory, but not from the file.
  void rest(std::uint64_t block, std::size_t size) const;
  [[nodiscard]] std::uint64_t bytes() const { return used_; }

 private:
  static constexpr std::uint64_t segment = 64 << 20;  // mapped at once

  const std::string action_;
  descriptor file_;
  std::uint64_t used_ = 0;
  std::uint64_t length_ = 0;  // of the file, with disk space allocated
  std::vector<std::byte*> segments_;
};

}  // namespace lull::netsim
