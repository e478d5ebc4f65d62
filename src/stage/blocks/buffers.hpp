// The memory of iterations: memfds that are mapped, and kept when they have been written, for pages that have been touched take bytes
// several times as fast.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::stage::blocks {

class buffer {
 public:
  explicit buffer(std::size_t bytes);  // throws lull::error: there is no memory, or no descriptor
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::byte* data() const { return data_; }  // changes when it grows
  [[nodiscard]] std::size_t size() const { return size_; }
  void grow(std::size_t bytes);

 private:
  lull::descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class buffers {
 public:
  // One that nobody else holds any more, of so many bytes at least. `look` is called when there is none: perhaps it makes one free.
  [[nodiscard]] std::shared_ptr<buffer> take(std::size_t bytes, const std::function<void()>& look);

 private:
  [[nodiscard]] std::shared_ptr<buffer> unused() const;
  std::vector<std::shared_ptr<buffer>> all_;
};

}  // namespace lull::stage::blocks
