#include "stage/blocks/block_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace lull::stage::blocks {
namespace {

constexpr std::array rows{
    element_row{element::int8, "int8", 1},       element_row{element::uint8, "uint8", 1},
    element_row{element::int16, "int16", 2},     element_row{element::uint16, "uint16", 2},
    element_row{element::int32, "int32", 4},     element_row{element::uint32, "uint32", 4},
    element_row{element::int64, "int64", 8},     element_row{element::uint64, "uint64", 8},
    element_row{element::float32, "float32", 4}, element_row{element::float64, "float64", 8},
};

struct preamble {
  std::uint64_t mark;
  std::uint64_t head_bytes;
  std::uint64_t bytes;  // of the whole file
};
constexpr std::uint64_t mark_of_block_files = 0x31304b4c424c4c55;

[[noreturn]] void damaged(const char* why) { throw error("read an iteration from a client", why); }

void put_extents(packet& into, const std::vector<std::int64_t>& values) {
  into.put(static_cast<std::uint32_t>(values.size()));
  for (const std::int64_t value : values) into.put(value);
}

std::vector<std::int64_t> take_extents(packet_reader& from) {
  std::vector<std::int64_t> values(std::min<std::size_t>(from.take<std::uint32_t>(), most_dimensions + 1));
  for (std::int64_t& value : values) value = from.take<std::int64_t>();
  return values;
}

block take_block(packet_reader& from) {
  block one;
  one.variable = from.take_text();
  one.type = from.take<element>();
  one.unit = from.take_text();
  one.packed = from.take<compression>();
  one.all = take_extents(from);
  one.offset = take_extents(from);
  one.count = take_extents(from);
  one.position = from.take<std::uint64_t>();
  const std::size_t dimensions = one.all.size();
  if (one.variable.empty() || dimensions == 0 || dimensions > most_dimensions) damaged("a variable has no extents");
  if (one.offset.size() != dimensions || one.count.size() != dimensions)
    damaged("a block and its variable differ in dimensions");
  std::size_t bytes = row_of(one.type).bytes;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const bool inside = one.offset[i] >= 0 && one.count[i] >= 0 && one.offset[i] <= one.all[i] &&
                        one.count[i] <= one.all[i] - one.offset[i];
    if (!inside) damaged("a block is partly outside its variable");
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(one.count[i]), &bytes)) damaged("a block is too large");
  }
  return one;
}

packet packed(const head& what) {
  packet made;
  put(made, what);
  return made;
}

}  // namespace

std::span<const element_row> elements() { return rows; }

const element_row& row_of(element what) {
  const auto* const found = std::ranges::find(rows, what, &element_row::what);
  if (found == rows.end()) damaged("a variable has an unknown type");
  return *found;
}

std::size_t block::bytes() const {
  std::size_t total = row_of(type).bytes;
  for (const std::int64_t extent : count) total *= static_cast<std::size_t>(extent);
  return total;
}

void put(packet& into, const head& what) {
  into.put(what.iteration).put(what.process).put(what.processes).put(what.one_file);
  into.put(static_cast<std::uint32_t>(what.blocks.size()));
  for (const block& one : what.blocks) {
    into.put(one.variable).put(one.type).put(one.unit).put(one.packed);
    put_extents(into, one.all);
    put_extents(into, one.offset);
    put_extents(into, one.count);
    into.put(one.position);
  }
  into.put(static_cast<std::uint32_t>(what.plugins.size()));
  for (const plugin& one : what.plugins)
    into.put(one.library).put(one.function).put(one.python).put(one.every).put(one.options);
}

head take_head(packet_reader& from) {
  head made;
  made.iteration = from.take<std::int64_t>();
  made.process = from.take<std::int32_t>();
  made.processes = from.take<std::int32_t>();
  made.one_file = from.take<bool>();
  if (made.process < 0 || made.process >= made.processes) damaged("its process number is out of range");
  for (auto left = from.take<std::uint32_t>(); left > 0; --left) made.blocks.push_back(take_block(from));
  for (auto left = from.take<std::uint32_t>(); left > 0; --left) {
    plugin one;
    one.library = from.take_text();
    one.function = from.take_text();
    one.python = from.take_text();
    one.every = std::max<std::int64_t>(from.take<std::int64_t>(), 1);
    one.options = from.take_text();
    made.plugins.push_back(std::move(one));
  }
  return made;
}

std::size_t begin_of_blocks(const head& what) { return at_page(sizeof(preamble) + packed(what).bytes().size()); }

void write_head(std::byte* memory, const head& what, std::size_t bytes_of_all) {
  const packet text = packed(what);
  const preamble first{mark_of_block_files, text.bytes().size(), bytes_of_all};
  std::memcpy(memory, &first, sizeof first);
  std::memcpy(memory + sizeof first, text.bytes().data(), text.bytes().size());
}

block_file::block_file(int descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) throw error("read an iteration from a client", describe_errno(errno));
  size_ = static_cast<std::size_t>(found.st_size);
  preamble first{};
  if (size_ < sizeof first) damaged("it is too short");
  void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) throw error("read an iteration from a client", describe_errno(errno));
  memory_ = static_cast<std::byte*>(mapped);
  try {
    std::memcpy(&first, memory_, sizeof first);
    if (first.mark != mark_of_block_files) damaged("its header is wrong");
    if (first.bytes > size_ || first.head_bytes > size_ - sizeof first) damaged("it is too short");
    packet_reader reader({memory_ + sizeof first, first.head_bytes});
    head_ = take_head(reader);
    for (const block& one : head_.blocks)
      if (one.position > first.bytes || (one.position > 0 && one.bytes() > first.bytes - one.position))
        damaged("a block lies outside");
  } catch (...) {
    munmap(memory_, size_);
    throw;
  }
}

block_file::~block_file() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

block_file::block_file(block_file&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), head_(std::move(other.head_)) {}

block_file& block_file::operator=(block_file&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(head_, other.head_);
  return *this;
}

}  // namespace lull::stage::blocks
