// Messages between clients and servers as bytes: values one after the other, in the order in which they were put.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace lull::stage {

class packet {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> packet& put(const T& value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  packet& put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto raw = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Throws lull::error where there are fewer bytes than are taken.
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
