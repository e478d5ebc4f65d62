#include "netsim/traces/spill_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/pages.hpp"

namespace lull::netsim {
namespace {

constexpr const char* fix = "set TMPDIR to a folder on a disk with room";

[[noreturn]] void fail(const std::string& action, const std::string& folder, int code) {
  throw error(action, "a temporary file in " + folder + ": " + describe_errno(code), fix);
}

std::string temporary_folder() {
  std::error_code failed;
  const auto folder = std::filesystem::temp_directory_path(failed);
  return failed ? "/tmp" : folder.string();
}

descriptor open_without_name(const std::string& action) {
  const std::string folder = temporary_folder();
  if (descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); file) return file;
  std::string name = folder + "/lull-XXXXXX";  // for file systems without O_TMPFILE
  descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail(action, folder, errno);
  unlink(name.c_str());
  return file;
}

}  // namespace

spill_file::spill_file(std::string action) : action_(std::move(action)), file_(open_without_name(action_)) {}

spill_file::~spill_file() {
  for (std::byte* const mapped : segments_) munmap(mapped, segment);
}

std::uint64_t spill_file::allocate(std::size_t size) {
  const std::uint64_t block = (used_ + size - 1) / size * size;  // does not cross the end of a segment
  const std::uint64_t end = block + size;
  while (end > length_) {
    // Disk space is allocated before it is written to: writing to a mapped page without space raises a fatal signal.
    constexpr std::uint64_t least = 1 << 20;
    const std::uint64_t more = std::max(least, length_ / 8 / least * least);
    if (const int code = allocate_pages(file_.get(), more, length_); code != 0) fail(action_, temporary_folder(), code);
    length_ += more;
  }
  if (block / segment == segments_.size()) {
    void* const mapped = mmap(nullptr, segment, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
                              static_cast<off_t>(block / segment * segment));
    if (mapped == MAP_FAILED) fail(action_, temporary_folder(), errno);
    segments_.push_back(static_cast<std::byte*>(mapped));
  }
  used_ = end;
  return block;
}

void spill_file::rest(std::uint64_t block, std::size_t size) const {
  if (size >= page_size()) (void)madvise(at(block), size, MADV_DONTNEED);
}

}  // namespace lull::netsim
