#include "stage/blocks/hdf5/hdf5_module.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace lull::stage::blocks {
namespace {

// Sanitizers reject RTLD_DEEPBIND.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int own_functions_first = 0;
#else
constexpr int own_functions_first = RTLD_DEEPBIND;
#endif

const module_functions& functions() {
  static const module_functions* const found = [] {
    constexpr const char* action = "write blocks of variables";
    void* const handle = dlopen("liblull-stage-hdf5.so", RTLD_NOW | RTLD_LOCAL | own_functions_first);
    if (handle == nullptr) throw error(action, dlerror(), "install HDF5, and install Lull again");
    const auto ask = reinterpret_cast<decltype(&lull_stage_hdf5)>(dlsym(handle, "lull_stage_hdf5"));
    if (ask == nullptr) throw error(action, "liblull-stage-hdf5.so does not belong to this Lull", "install Lull again");
    return ask();
  }();
  return *found;
}

// An error's line, as it came out of the module: "action: found".
void check(const std::string& line) {
  if (line.empty()) return;
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) throw error("write blocks of variables", line);
  throw error(line.substr(0, colon), line.substr(colon + 2));
}

}  // namespace

amount write_by_hdf5(std::span<const handed_over> all, bool sync) {
  amount written;
  std::string why;
  functions().write(all, sync, written, why);
  check(why);
  return written;
}

std::string join_by_hdf5(const std::string& folder, bool sync) {
  std::string missing, why;
  functions().join(folder, sync, missing, why);
  check(why);
  return missing;
}

}  // namespace lull::stage::blocks
