// A block file: an iteration of one process in memory, as it is handed over.
//
//   preamble | head | the block of one variable | the block of another | …        each block begins at a page
//
// The head contains everything that is needed to make HDF5 files of it, in any process and without the program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/pages.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage::blocks {

enum class element : std::uint32_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

struct element_row {
  element what;
  const char* name;  // in descriptions
  std::size_t bytes;
};
[[nodiscard]] std::span<const element_row> elements();
[[nodiscard]] const element_row& row_of(element what);  // throws lull::error if there is none

struct compression {
  enum class method : std::uint32_t { none, gzip, zstd };
  method by = method::none;
  int level = 0;
};

// A function to call after an iteration has been written.
struct plugin {
  std::string library, function;  // in a shared library
  std::string python;             // or "file.py:function"
  std::int64_t every = 1;         // called for iterations whose number it divides
  std::string options = "{}";     // JSON
};

// The dataset with the heads of the processes in an HDF5 file, next to its variables.
inline constexpr const char* name_of_own_record = "lull_blocks";

inline constexpr std::size_t most_dimensions = 32;  // the limit of HDF5

// The part of one variable that one process has. Extents are numbers of elements, the slowest dimension first.
struct block {
  std::string variable;  // "/" makes HDF5 groups
  element type = element::float64;
  std::string unit;
  compression packed;
  std::vector<std::int64_t> all;            // of the whole variable
  std::vector<std::int64_t> offset, count;  // of this part
  std::uint64_t position = 0;               // of its data in the block file; 0: not written
  [[nodiscard]] std::size_t bytes() const;
};

struct head {
  std::int64_t iteration = 0;
  std::int32_t process = 0, processes = 1;
  bool one_file = false;  // one file for all blocks written together, not one per process
  std::vector<block> blocks;
  std::vector<plugin> plugins;
};

void put(packet& into, const head& what);
// Throws lull::error if the head is inconsistent.
[[nodiscard]] head take_head(packet_reader& from);

// Bytes before the first block; independent of the numbers in the head.
[[nodiscard]] std::size_t begin_of_blocks(const head& what);
[[nodiscard]] constexpr std::size_t at_page(std::size_t position) { return round_up(position, 4096); }
// `memory` has begin_of_blocks() bytes.
void write_head(std::byte* memory, const head& what, std::size_t bytes_of_all);

// A block file that was handed over, mapped. It is checked first, so that no block is outside it.
class block_file {
 public:
  explicit block_file(int descriptor);  // which must stay open; throws lull::error
  ~block_file();
  block_file(block_file&& other) noexcept;
  block_file& operator=(block_file&& other) noexcept;

  [[nodiscard]] const head& about() const { return head_; }
  // Only for blocks that were written.
  [[nodiscard]] const std::byte* data(const block& of) const { return memory_ + of.position; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  head head_;
};

}  // namespace lull::stage::blocks
