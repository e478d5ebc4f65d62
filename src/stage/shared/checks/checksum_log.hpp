// What a client has handed over for files that several processes write: places and checksums, in a file of its own in a
// folder that all nodes see. The first server of the job compares all logs with the files at the end (verification.hpp).
//
//   constructor → wrote(), set_size(), declined() → end()
//
// Checksums are of blocks: the parts of pieces between multiples of `block_bytes` in the file. So what is written again
// later, in part, costs the check of one block. Any thread may call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/shared/pieces.hpp"

namespace lull::stage {

struct checksum_record {
  enum class kind : std::uint32_t {
    file,      // `length` bytes follow: a path, of the file with number `file` and the inode `order`
    bytes,     // from `offset` on
    size,      // the file ends at `offset` then
    declined,  // the program's library has changed the file by itself
    end,       // the log is complete
  };
  kind what = kind::end;
  std::uint32_t file = 0;   // of this log
  std::uint64_t order = 0;  // over all nodes; 0: it is not known
  std::int64_t offset = 0, length = 0;
  std::uint32_t sum = 0;
  std::uint32_t unused = 0;  // no byte of it is undefined
};

class checksum_log {
 public:
  static constexpr std::int64_t block_bytes = std::int64_t{64} << 10U;
  static constexpr const char* suffix = ".lull-checksums";

  // Throws lull::error.
  explicit checksum_log(const std::string& folder);

  // The checksums of the blocks of these pieces, in their order.
  [[nodiscard]] static std::vector<checksum_record> sums_of(std::span<const piece> pieces, const std::byte* data);
  // All with the same place in the order.
  void wrote(const std::string& path, std::uint64_t inode, std::uint64_t order, std::vector<checksum_record> sums);
  void set_size(const std::string& path, std::uint64_t inode, std::uint64_t order, std::int64_t bytes);
  void declined(const std::string& path, std::uint64_t inode);
  // Prints a line if the log could not be written; then it has no end.
  void end();

 private:
  using name = std::pair<std::uint64_t, std::string>;
  std::uint32_t number_of(const name& file);
  void add(const checksum_record& one);
  void flush();

  std::mutex mutex_;
  std::string path_;
  descriptor file_;
  int failed_ = 0;  // errno
  bool ended_ = false;
  std::map<name, std::uint32_t> files_;
  std::vector<std::byte> buffer_;
};

}  // namespace lull::stage
