#include "stage/blocks/buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.hpp"

namespace lull::stage::blocks {
namespace {

[[noreturn]] void fail(std::size_t bytes) {
  throw error("keep " + std::to_string(bytes) + " bytes of output in memory", describe_errno(errno));
}

}  // namespace

buffer::buffer(std::size_t bytes) : file_(memfd_create("lull-stage", MFD_CLOEXEC)) {
  if (!file_ || ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail(bytes);
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_.get(), 0);
  if (made == MAP_FAILED) fail(bytes);
  data_ = static_cast<std::byte*>(made);
  size_ = bytes;
}

buffer::~buffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

void buffer::grow(std::size_t bytes) {
  if (bytes <= size_) return;
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail(bytes);
  void* const made = mremap(data_, size_, bytes, MREMAP_MAYMOVE);
  if (made == MAP_FAILED) fail(bytes);
  data_ = static_cast<std::byte*>(made);
  size_ = bytes;
}

std::shared_ptr<buffer> buffers::take(std::size_t bytes, const std::function<void()>& look) {
  std::shared_ptr<buffer> found = unused();
  if (!found) {
    look();
    found = unused();
  }
  if (!found) return all_.emplace_back(std::make_shared<buffer>(bytes));
  found->grow(bytes);
  return found;
}

std::shared_ptr<buffer> buffers::unused() const {
  const auto found = std::ranges::find_if(all_, [](const auto& one) { return one.use_count() == 1; });
  return found == all_.end() ? nullptr : *found;
}

}  // namespace lull::stage::blocks
