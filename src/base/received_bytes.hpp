// Reads data of another process value by value, and never beyond its end, because the sender may be of another build.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace lull {

class received_bytes {
 public:
  // `action` starts the error message for data that is too short.
  received_bytes(std::span<const std::byte> bytes, std::string action) : left_(bytes), action_(std::move(action)) {}

  template <class T>
  [[nodiscard]] T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size())
      throw error(action_, "its message is " + std::to_string(bytes - left_.size()) + " bytes too short",
                  "use one build of Lull in all processes of a job");
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  [[nodiscard]] std::span<const std::byte> rest() { return std::exchange(left_, {}); }

 private:
  std::span<const std::byte> left_;
  std::string action_;
};

}  // namespace lull
