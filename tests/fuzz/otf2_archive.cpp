// An archive in OTF2 with one file of any bytes: it is read and analysed, or refused.
//
// The first byte says which file the rest is. The anchor stays: of numbers that it counts OTF2 itself reads any, for hours.
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "kept_folder.hpp"
#include "trace/analysis.hpp"
#include "trace/archive_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array names{"traces.def", "traces/0.evt", "traces/0.def"};
  static const std::filesystem::path original = TEMPLATES "/otf2_archive";
  static const lull::kept_folder folder(original);
  if (size == 0) return 0;
  const char* const name = names.at(data[0] % names.size());
  folder.write(name, data + 1, size - 1);
  try {
    lull::trace::archive_reader archive(folder.path());
    archive.open();
    lull::trace::analyser visitor(archive.all(), 16);
    archive.read(visitor);
    (void)visitor.result();
  } catch (const lull::error&) {
  }
  std::filesystem::copy_file(original / name, folder.path() / name, std::filesystem::copy_options::overwrite_existing);
  return 0;
}
