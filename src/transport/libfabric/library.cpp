#include "transport/libfabric/library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "base/error.hpp"

namespace lull::transport {
namespace {

constexpr const char* file = "libfabric.so.1";
constexpr std::uint32_t oldest = FI_VERSION(1, 15);

// Opens the library that the program has loaded; otherwise the one that the loader finds, or the one in the folder in
// which Lull was built.
void* opened() {
  if (void* const there = dlopen(file, RTLD_NOW | RTLD_NOLOAD)) return there;
  if (void* const found = dlopen(file, RTLD_NOW)) return found;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps it for each thread
  const char* const said = dlerror();
  const std::string failure = said != nullptr ? said : "it cannot be loaded";
  if (void* const found = dlopen(LULL_LIBFABRIC_FOLDER "/libfabric.so.1", RTLD_NOW)) return found;
  throw error("load libfabric", failure, "install it (libfabric1 on Debian), or set LULL_TRANSPORT=ucx");
}

void load() {
  void* const found = opened();
#define LULL_FIND(name)                                                             \
  libfabric.name = reinterpret_cast<decltype(libfabric.name)>(dlsym(found, #name)); \
  if (libfabric.name == nullptr) throw error("load libfabric", "it has no " #name, "install version 1.15 or newer");
  LULL_LIBFABRIC_FUNCTIONS(LULL_FIND)
#undef LULL_FIND
  if (const std::uint32_t here = libfabric.fi_version(); FI_VERSION_LT(here, oldest))
    throw error("load libfabric",
                "it has version " + std::to_string(FI_MAJOR(here)) + "." + std::to_string(FI_MINOR(here)),
                "install version 1.15 or newer");
}

}  // namespace

libfabric_library libfabric;

void load_libfabric() {
  static std::once_flag once;
  std::call_once(once, load);
}

std::string libfabric_answer(long code) {
  return std::string("libfabric answered ") + libfabric.fi_strerror(static_cast<int>(std::abs(code)));
}

void check_libfabric(long result, const char* action, const char* fix) {
  if (result < 0) throw error(action, libfabric_answer(result), fix);
}

}  // namespace lull::transport
