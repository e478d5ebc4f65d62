// Arrays in the symmetric heap: zero at first, freed at the end of their scope. Construction and destruction are
// collective.
#pragma once
#include <fmt/format.h>
#include <shmem.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace irregular {

template <class T>
class symmetric_array {
  static_assert(std::is_trivially_copyable_v<T>, "other PEs write and read it as bytes");

 public:
  // `what` names the array in an error: "10000 bins".
  symmetric_array(std::size_t count, const std::string& what)
      : data_(static_cast<T*>(shmem_calloc(count == 0 ? 1 : count, sizeof(T)))), count_(count) {
    if (!data_)
      throw std::runtime_error(fmt::format("no room for {} on each PE; raise SHMEM_SYMMETRIC_SIZE above {} MiB", what,
                                           count * sizeof(T) >> 20));
  }
  ~symmetric_array() { shmem_free(data_); }
  symmetric_array(const symmetric_array&) = delete;
  symmetric_array& operator=(const symmetric_array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<T> all() const { return {data_, count_}; }
  [[nodiscard]] T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t count_;
};

}  // namespace irregular
