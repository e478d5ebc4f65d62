#include "transport/ucx/library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "transport/library_environment.hpp"

namespace lull::transport {
namespace {

constexpr const char* file = "libucp.so.0";

std::string last_failure() {
  const char* const said = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
  return said != nullptr ? said : "it cannot be loaded";
}

// Opens the library that the program has loaded; otherwise the one that the loader finds, or the one in the folder in
// which Lull was built.
void* opened(bool registers) {
  if (void* const there = dlopen(file, RTLD_NOW | RTLD_NOLOAD)) return there;
  const library_environment environment({{"UCX_HANDLE_ERRORS", "none"}, {"UCX_VFS_ENABLE", "no"}});
  std::optional<library_environment> without_hooks;
  if (!registers) without_hooks.emplace(std::vector<library_environment::variable>{{"UCX_MEM_EVENTS", "no"}});
  if (void* const found = dlopen(file, RTLD_NOW)) return found;
  const std::string failure = last_failure();
  if (void* const found = dlopen(LULL_UCX_FOLDER "/libucp.so.0", RTLD_NOW)) return found;
  throw error("load UCX", failure, "install it (lull doctor says how), or run all processes on one node");
}

void load(bool registers) {
  void* const ucp = opened(registers);
  const auto find = [&](const char* name) {
    void* const found = dlsym(ucp, name);  // also searches the libraries that it needs
    if (found == nullptr) throw error("load UCX", last_failure(), "install UCX 1.13 or newer");
    return found;
  };
#define LULL_FIND(name) library.name = reinterpret_cast<decltype(library.name)>(find(#name));
  LULL_UCX_FUNCTIONS(LULL_FIND)
#undef LULL_FIND
}

}  // namespace

ucx_library library;

void load_ucx(bool registers) {
  static std::once_flag once;
  std::call_once(once, load, registers);
}

version_of_ucx ucx_version() {
  version_of_ucx here{};
  unsigned patch = 0;
  library.ucp_get_version(here.data(), &here[1], &patch);
  return here;
}

}  // namespace lull::transport
