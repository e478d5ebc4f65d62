// The files of traced processes, one of them with arbitrary bytes: an archive is made, or the trace is rejected.
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "kept_folder.hpp"
#include "trace/archive/archive_writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array names{"vm-8253.0.records", "vm-8253.definitions", "vm.energy"};
  lull::with_one_file_replaced(TEMPLATES "/raw_trace", names, data, size, [](const std::filesystem::path& folder) {
    const std::filesystem::path into = folder / "made";
    std::filesystem::create_directory(into);
    try {
      (void)lull::trace::write_archive(folder, into);
    } catch (const lull::error&) {
    }
    std::filesystem::remove_all(into);
  });
  return 0;
}
