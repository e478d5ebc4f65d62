#include "driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace gpu_patterns {
namespace {

constexpr const char* file = "libcuda.so.1";
constexpr int stub_library = 34;  // the toolkit's library to link with, no driver
constexpr int no_device = 100;

}  // namespace

library::library() : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw no_gpu(dlerror());
}

void* library::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr)
    throw cuda_error(
        fmt::format("{} has no {}: it is too old, or not a CUDA driver; install NVIDIA's driver", file, name));
  return found;
}

void library::fail(int status, const std::string& asked) const {
  const char* text = nullptr;
  find<int(int, const char**)>("cuGetErrorString")(status, &text);
  throw cuda_error(fmt::format("{}: {} (CUDA error {})", asked, text != nullptr ? text : "unknown error", status));
}

device::device(const library& cuda, int index, waiting how)
    : release_(cuda.find<int(int)>("cuDevicePrimaryCtxRelease_v2")) {
  const int status = cuda.find<int(unsigned)>("cuInit")(0);
  if (status == no_device || status == stub_library)
    throw no_gpu(fmt::format("{} is installed but finds no GPU (CUDA error {})", file, status));
  cuda.check(status, "cuInit");
  int count = 0;
  cuda.check(cuda.find<int(int*)>("cuDeviceGetCount")(&count), "cuDeviceGetCount");
  if (count == 0) throw no_gpu(fmt::format("{} is installed but finds no GPU", file));
  if (index >= count)
    throw cuda_error(fmt::format("--device {}: there {} {}, numbered from 0", index, count == 1 ? "is" : "are", count));
  cuda.check(cuda.find<int(int*, int)>("cuDeviceGet")(&device_, index), fmt::format("cuDeviceGet {}", index));
  std::array<char, 256> name{};
  cuda.check(
      cuda.find<int(char*, int, int)>("cuDeviceGetName")(name.data(), static_cast<int>(name.size()) - 1, device_),
      fmt::format("cuDeviceGetName of GPU {}", index));
  name_ = name.data();
  cuda.check(cuda.find<int(int, unsigned)>("cuDevicePrimaryCtxSetFlags_v2")(device_, static_cast<unsigned>(how)),
             fmt::format("cuDevicePrimaryCtxSetFlags of GPU {}, {}", index, name_));
  void* context = nullptr;
  auto* const set_current = cuda.find<int(void*)>("cuCtxSetCurrent");
  cuda.check(cuda.find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device_),
             fmt::format("cuDevicePrimaryCtxRetain of GPU {}, {}", index, name_));
  if (const int set = set_current(context); set != 0) {
    release_(device_);
    cuda.fail(set, fmt::format("cuCtxSetCurrent of GPU {}, {}", index, name_));
  }
}

device_memory::device_memory(const library& cuda, std::size_t bytes) : free_(cuda.find<int(address)>("cuMemFree_v2")) {
  cuda.check(cuda.find<int(address*, std::size_t)>("cuMemAlloc_v2")(&begin_, bytes),
             fmt::format("cuMemAlloc of {} bytes on the GPU", bytes));
}

pinned_memory::pinned_memory(const library& cuda, std::size_t bytes) : free_(cuda.find<int(void*)>("cuMemFreeHost")) {
  cuda.check(cuda.find<int(void**, std::size_t)>("cuMemAllocHost_v2")(&begin_, bytes),
             fmt::format("cuMemAllocHost of {} bytes, pinned", bytes));
}

stream::stream(const library& cuda)
    : synchronise_(cuda.find<int(stream_handle)>("cuStreamSynchronize")),
      destroy_(cuda.find<int(stream_handle)>("cuStreamDestroy_v2")) {
  cuda.check(cuda.find<int(stream_handle*, unsigned)>("cuStreamCreate")(&handle_, 0), "cuStreamCreate");
}

copies::copies(const library& cuda)
    : cuda_(cuda),
      to_(cuda.find<int(address, const void*, std::size_t)>("cuMemcpyHtoD_v2")),
      to_async_(cuda.find<int(address, const void*, std::size_t, stream_handle)>("cuMemcpyHtoDAsync_v2")),
      from_(cuda.find<int(void*, address, std::size_t)>("cuMemcpyDtoH_v2")),
      from_async_(cuda.find<int(void*, address, std::size_t, stream_handle)>("cuMemcpyDtoHAsync_v2")),
      synchronise_(cuda.find<int(stream_handle)>("cuStreamSynchronize")) {}

void copies::fail(int status, const char* function, std::size_t bytes) const {
  cuda_.fail(status, fmt::format("{} of {} bytes", function, bytes));
}

}  // namespace gpu_patterns
