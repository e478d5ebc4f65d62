#include "regions/visit_counts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "regions/record_folder.hpp"

namespace lull::regions {
namespace {

constexpr std::size_t size = 2 * sizeof(std::int64_t);

}  // namespace

void visit_counts::map() {
  path_ = path_of_process(folder_, "visits") + ".count";
  failed_ = true;
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  // The bytes are there before they are touched: a full disk must not become a SIGBUS.
  if (::posix_fallocate(file, 0, size) == 0) {
    void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) shown_ = static_cast<volatile std::int64_t*>(mapped);
  }
  ::close(file);
  failed_ = shown_ == nullptr;
  if (failed_) ::unlink(path_.c_str());
}

void visit_counts::unmap() {
  if (shown_ != nullptr) ::munmap(const_cast<std::int64_t*>(shown_), size);
  shown_ = nullptr;
}

void visit_counts::remove() {
  if (shown_ == nullptr) return;
  unmap();
  ::unlink(path_.c_str());
}

}  // namespace lull::regions
