#include "mpi/files/device_memory.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "mpi/library.hpp"

namespace lull::mpi {
namespace {

// From cuda.h.
constexpr int memory_type = 2;
constexpr unsigned on_the_device = 2;

void* loaded(const char* library, const char* name) noexcept {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

}  // namespace

gpu_runtimes::gpu_runtimes() noexcept
    : of_cuda_(reinterpret_cast<pointer_attribute*>(loaded("libcuda.so.1", "cuPointerGetAttribute"))) {
  for (const char* const one : {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"})
    others_ = others_ || loaded(one, "hipInit") != nullptr;
  others_ = others_ || loaded("libze_loader.so.1", "zeInit") != nullptr;
}

bool gpu_runtimes::may_be_on_device(const void* buffer) const noexcept {
  if (others_) return true;
  unsigned kind = 0;
  return of_cuda_ != nullptr && of_cuda_(&kind, memory_type, reinterpret_cast<std::uintptr_t>(buffer)) == 0 &&
         kind == on_the_device;
}

std::vector<std::byte> packed(const void* buffer, std::int64_t count, MPI_Datatype type,
                              std::int64_t bytes_of_element) {
  std::vector<std::byte> made(static_cast<std::size_t>(count * bytes_of_element));
  MPI_Aint lower = 0, extent = 0;
  LULL_LIBRARY(MPI_Type_get_extent)(type, &lower, &extent);
  constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
  const std::int64_t at_once = std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, bytes_of_element));
  for (std::int64_t done = 0; done < count; done += at_once) {
    const std::int64_t elements = std::min(at_once, count - done);
    int position = 0;
    LULL_LIBRARY(MPI_Pack)
    (static_cast<const std::byte*>(buffer) + done * extent, static_cast<int>(elements), type,
     made.data() + done * bytes_of_element, static_cast<int>(elements * bytes_of_element), &position,
     predefined.comm_self);
  }
  return made;
}

}  // namespace lull::mpi
