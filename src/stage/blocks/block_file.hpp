// An iteration of one process in memory, as it is handed over: a block file.
//
//   preamble | head | the block of one variable | the block of another | …        each block begins at a page
//
// The head says all that is needed to make HDF5 files of it, whoever does so: nothing else has to be known of the program.
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
[[nodiscard]] const element_row& row_of(element what);  // throws lull::error: there is none

struct compression {
  enum class method : std::uint32_t { none, gzip, zstd };
  method by = method::none;
  int level = 0;
};

// What is called after an iteration has been written.
struct plugin {
  std::string library, function;  // a shared library
  std::string python;             // or "file.py:function"
  std::int64_t every = 1;         // iterations whose number it divides
  std::string options = "{}";     // JSON
};

// What each HDF5 file has beside its variables: the heads of the processes in it.
inline constexpr const char* name_of_own_record = "lull_blocks";

inline constexpr std::size_t most_dimensions = 32;  // as HDF5 has

// Of one variable the part that one process has. Extents are in numbers of elements, the dimension that varies slowest first.
struct block {
  std::string variable;  // "/" makes groups of HDF5
  element type = element::float64;
  std::string unit;
  compression packed;
  std::vector<std::int64_t> all;            // of the whole variable
  std::vector<std::int64_t> offset, count;  // of this part
  std::uint64_t position = 0;               // of its data in the block file; 0: it was not written
  [[nodiscard]] std::size_t bytes() const;
};

struct head {
  std::int64_t iteration = 0;
  std::int32_t process = 0, processes = 1;
  bool one_file = false;  // of all that is written together, not one for each process
  std::vector<block> blocks;
  std::vector<plugin> plugins;
};

void put(packet& into, const head& what);
// Throws lull::error where it contradicts itself.
[[nodiscard]] head take_head(packet_reader& from);

// Bytes before the first block; the same whatever the numbers in the head are.
[[nodiscard]] std::size_t begin_of_blocks(const head& what);
[[nodiscard]] constexpr std::size_t at_page(std::size_t position) { return round_up(position, 4096); }
// Into memory of begin_of_blocks() bytes.
void write_head(std::byte* memory, const head& what, std::size_t bytes_of_all);

// One that somebody has handed over, mapped; it is checked first, so that no block lies outside.
class block_file {
 public:
  explicit block_file(int descriptor);  // which stays open meanwhile; throws lull::error
  ~block_file();
  block_file(block_file&& other) noexcept;
  block_file& operator=(block_file&& other) noexcept;

  [[nodiscard]] const head& about() const { return head_; }
  // Of blocks that were written.
  [[nodiscard]] const std::byte* data(const block& of) const { return memory_ + of.position; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  head head_;
};

}  // namespace lull::stage::blocks
