// Messages between clients and servers as bytes: values in the order in which they were put.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/error.hpp"

namespace lull::stage {

class packet {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> packet& put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  packet& put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  packet& put_bytes(std::span<const std::byte> all) {
    bytes_.append(reinterpret_cast<const char*>(all.data()), all.size());
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

// Throws lull::error if fewer bytes are left than are taken.
class packet_reader {
 public:
  explicit packet_reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::string take_text() {
    const auto raw = next(take<std::uint32_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> next(std::size_t count) {
    if (count > rest_.size()) throw error("read a message about output", "it is too short");
    const auto found = rest_.first(count);
    rest_ = rest_.subspan(count);
    return found;
  }

  std::span<const std::byte> rest_;
};

}  // namespace lull::stage
