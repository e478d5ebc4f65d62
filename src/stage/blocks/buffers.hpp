// The memory of iterations: mapped memfds, which are reused after they have been written, because copying into pages
// that have been touched is several times as fast.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::stage::blocks {

class buffer {
 public:
  explicit buffer(std::size_t bytes);  // throws lull::error if there is no memory or no descriptor
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
  // Returns an unused buffer of at least `bytes` bytes. If there is none, calls `look` first, which may free one.
  [[nodiscard]] std::shared_ptr<buffer> take(std::size_t bytes, const std::function<void()>& look);

 private:
  [[nodiscard]] std::shared_ptr<buffer> unused() const;
  std::vector<std::shared_ptr<buffer>> all_;
};

}  // namespace lull::stage::blocks
