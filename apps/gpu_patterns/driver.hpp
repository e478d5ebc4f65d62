// The part of the CUDA driver API that is used here, loaded at run time: the build needs nothing of CUDA.
//
// A failure is thrown as one line that names the call; memory is freed at the end of its scope.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpu_patterns {

// There is no driver or no GPU: nothing can be measured, but nothing is wrong.
class no_gpu : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class cuda_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

using address = unsigned long long;  // CUdeviceptr
using stream_handle = void*;         // CUstream; null: the default stream

// libcuda.so.1, which stays loaded until the process ends. Throws no_gpu if it is not there.
class library {
 public:
  library();

  // Throws cuda_error if the library has no such function.
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  void check(int status, const std::string& asked) const {
    if (status != 0) fail(status, asked);
  }
  [[noreturn]] void fail(int status, const std::string& asked) const;

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_;
};

// How a thread waits for the GPU (CU_CTX_SCHED_*): it polls, yields its core between two polls, or sleeps until an
// interrupt.
enum class waiting : unsigned { spin = 1, yield = 2, block = 4 };

// One GPU, with its primary context on this thread. Throws no_gpu if there is none.
class device {
 public:
  device(const library& cuda, int index, waiting how);
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  ~device() { release_(device_); }

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  int (*release_)(int);
  int device_ = 0;
  std::string name_;
};

class device_memory {
 public:
  device_memory(const library& cuda, std::size_t bytes);
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  ~device_memory() { free_(begin_); }

  [[nodiscard]] address begin() const { return begin_; }

 private:
  int (*free_)(address);
  address begin_ = 0;
};

// Memory of the host that the GPU accesses directly.
class pinned_memory {
 public:
  pinned_memory(const library& cuda, std::size_t bytes);
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;
  ~pinned_memory() { free_(begin_); }

  [[nodiscard]] std::byte* begin() const { return static_cast<std::byte*>(begin_); }

 private:
  int (*free_)(void*);
  void* begin_ = nullptr;
};

class stream {
 public:
  explicit stream(const library& cuda);
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {  // outstanding copies use memory that is freed next
    synchronise_(handle_);
    destroy_(handle_);
  }

  [[nodiscard]] stream_handle handle() const { return handle_; }

 private:
  int (*synchronise_)(stream_handle);
  int (*destroy_)(stream_handle);
  stream_handle handle_ = nullptr;
};

// Copies between host and GPU, and waits for them.
class copies {
 public:
  explicit copies(const library& cuda);

  void to_gpu(address to, const void* from, std::size_t bytes) const {
    if (const int status = to_(to, from, bytes); status != 0) fail(status, "cuMemcpyHtoD", bytes);
  }
  void to_gpu(address to, const void* from, std::size_t bytes, stream_handle on) const {
    if (const int status = to_async_(to, from, bytes, on); status != 0) fail(status, "cuMemcpyHtoDAsync", bytes);
  }
  void from_gpu(void* to, address from, std::size_t bytes) const {
    if (const int status = from_(to, from, bytes); status != 0) fail(status, "cuMemcpyDtoH", bytes);
  }
  void from_gpu(void* to, address from, std::size_t bytes, stream_handle on) const {
    if (const int status = from_async_(to, from, bytes, on); status != 0) fail(status, "cuMemcpyDtoHAsync", bytes);
  }
  void synchronise(stream_handle with) const {
    if (const int status = synchronise_(with); status != 0) cuda_.fail(status, "cuStreamSynchronize");
  }

 private:
  [[noreturn]] void fail(int status, const char* function, std::size_t bytes) const;

  const library& cuda_;
  int (*to_)(address, const void*, std::size_t);
  int (*to_async_)(address, const void*, std::size_t, stream_handle);
  int (*from_)(void*, address, std::size_t);
  int (*from_async_)(void*, address, std::size_t, stream_handle);
  int (*synchronise_)(stream_handle);
};

}  // namespace gpu_patterns
