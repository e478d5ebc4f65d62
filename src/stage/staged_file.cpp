#include "stage/staged_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace lull::stage {

staged_file::staged_file(std::string final_path, bool exclusive, bool dropped)
    : final_path_(std::move(final_path)),
      descriptor_(memfd_create("lull-stage", MFD_CLOEXEC)),
      exclusive_(exclusive),
      dropped_(dropped) {
  if (descriptor_ < 0) throw error("stage " + final_path_ + " in memory", describe_errno(errno));
}

staged_file::~staged_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

staged_file::staged_file(staged_file&& other) noexcept
    : final_path_(std::move(other.final_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      exclusive_(other.exclusive_),
      dropped_(other.dropped_) {}

staged_file& staged_file::operator=(staged_file&& other) noexcept {
  std::swap(final_path_, other.final_path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(exclusive_, other.exclusive_);
  std::swap(dropped_, other.dropped_);
  return *this;
}

std::string staged_file::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

std::size_t staged_file::bytes() const {
  struct stat found {};
  return fstat(descriptor_, &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

}  // namespace lull::stage
