// A file of a machine's constants: read, or rejected as a mistake of its author.
#include "model/machine/machine_file.hpp"

#include <cstdint>

#include "base/error.hpp"
#include "kept_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lull::kept_folder folder;
  folder.write("machine.toml", data, size);
  try {
    (void)lull::model::read_machine_file((folder.path() / "machine.toml").string());
  } catch (const lull::usage_error&) {
  }
  return 0;
}
