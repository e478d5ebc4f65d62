// Buffers that the host may not be able to read, because they are in the memory of a GPU. The MPI library can, if it
// supports the GPU at all: it packs them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/flavour.hpp"

namespace lull::mpi {

// The GPU runtimes that are loaded in the process when it is constructed: when a file is opened, since that takes some
// microseconds. libcuda knows the kind of a pointer; with others, each buffer may be on a device.
class gpu_runtimes {
 public:
  gpu_runtimes() noexcept;
  [[nodiscard]] bool may_be_on_device(const void* buffer) const noexcept;

 private:
  using pointer_attribute = int(void* value, int attribute, std::uintptr_t pointer);
  pointer_attribute* of_cuda_ = nullptr;
  bool others_ = false;
};

// The data of `count` elements, one after the other, by MPI_Pack.
[[nodiscard]] std::vector<std::byte> packed(const void* buffer, std::int64_t count, MPI_Datatype type,
                                            std::int64_t bytes_of_element);

}  // namespace lull::mpi
