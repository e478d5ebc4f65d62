// A merged trace with arbitrary chunks, whose checksums are right: it is read, or rejected. In the input, each chunk is
// a byte for its kind, two for its length, and its content.
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "kept_folder.hpp"
#include "trace/archive/archive_reader.hpp"
#include "trace/merging/merged_file.hpp"

namespace {

using namespace lull::trace;

void append(std::vector<std::uint8_t>& to, const void* from, std::size_t bytes) {
  const auto* const at = static_cast<const std::uint8_t*>(from);
  to.insert(to.end(), at, at + bytes);
}

std::vector<std::uint8_t> with_checksums(std::span<const std::uint8_t> input) {
  std::vector<std::uint8_t> made;
  const merging::file_header beginning;
  append(made, &beginning, sizeof beginning);
  while (input.size() >= 3) {
    const std::size_t length = std::min<std::size_t>(input[1] | std::size_t{input[2]} << 8, input.size() - 3);
    const auto content = input.subspan(3, length);
    merging::chunk_header header{.what = static_cast<merging::chunk>(input[0]),
                                 .bytes = length,
                                 .sum = static_cast<std::uint32_t>(merging::checksum(content))};
    header.header_sum = header.right_header_sum();
    append(made, &header, sizeof header);
    append(made, content.data(), content.size());
    input = input.subspan(3 + length);
  }
  return made;
}

struct counting : event_visitor {
  void on(const event&) override { ++events; }
  std::uint64_t events = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lull::kept_folder folder;
  const std::vector<std::uint8_t> file = with_checksums({data, size});
  folder.write(merging::merged_name, file.data(), file.size());
  try {
    archive_reader trace(folder.path());
    counting events;
    trace.read(events);
  } catch (const lull::error&) {
  }
  return 0;
}
