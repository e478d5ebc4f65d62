#include "regions/visit_counts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "base/pages.hpp"
#include "regions/record_folder.hpp"

namespace lull::regions {
namespace {

constexpr std::size_t size = 2 * sizeof(std::int64_t);

}  // namespace

void visit_counts::map() {
  path_ = path_of_process(folder_, "visits") + ".count";
  failed_ = true;
  const descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return;
  int why = 0;
  shown_ = static_cast<volatile std::int64_t*>(map_pages(file.get(), size, why));
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
