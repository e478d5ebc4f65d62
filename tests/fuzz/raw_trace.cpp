// What traced processes have left, with one file of any bytes: an archive is made, or the trace is refused.
//
// The first byte says which file the rest is.
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "kept_folder.hpp"
#include "trace/archive_writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array names{"vm-8253.0.records", "vm-8253.definitions", "vm.energy"};
  static const std::filesystem::path original = TEMPLATES "/raw_trace";
  static const lull::kept_folder folder(original);
  if (size == 0) return 0;
  const char* const name = names.at(data[0] % names.size());
  folder.write(name, data + 1, size - 1);
  const std::filesystem::path into = folder.path() / "made";
  std::filesystem::create_directory(into);
  try {
    (void)lull::trace::write_archive(folder.path(), into);
  } catch (const lull::error&) {
  }
  std::filesystem::remove_all(into);
  std::filesystem::copy_file(original / name, folder.path() / name, std::filesystem::copy_options::overwrite_existing);
  return 0;
}
