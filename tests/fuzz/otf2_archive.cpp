// An OTF2 archive with one file of arbitrary bytes: read and analysed, or rejected. The anchor file is not changed,
// because OTF2 itself would read for hours what a damaged one counts.
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "kept_folder.hpp"
#include "trace/analysis.hpp"
#include "trace/archive/archive_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array names{"traces.def", "traces/0.evt", "traces/0.def"};
  lull::with_one_file_replaced(TEMPLATES "/otf2_archive", names, data, size, [](const std::filesystem::path& folder) {
    try {
      lull::trace::archive_reader archive(folder);
      archive.open();
      lull::trace::analyser visitor(archive.all(), 16);
      archive.read(visitor);
      (void)visitor.result();
    } catch (const lull::error&) {
    }
  });
  return 0;
}
