#include "irregular/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace irregular {

input_file::input_file(std::filesystem::path path, std::string what) : path_(std::move(path)), what_(std::move(what)) {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw mistake(std::generic_category().message(errno));
  struct stat about {};
  fstat(fd, &about);
  const bool regular = S_ISREG(about.st_mode);
  size_ = static_cast<std::size_t>(about.st_size);
  void* const where = regular && size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  const int code = errno;
  close(fd);
  if (!regular) throw mistake("it is not a regular file");
  if (size_ == 0) throw mistake("it is empty");
  if (where == MAP_FAILED) throw mistake(std::generic_category().message(code));
  data_ = static_cast<const std::byte*>(where);
}

input_file::~input_file() { munmap(const_cast<std::byte*>(data_), size_); }

std::runtime_error input_file::mistake(const std::string& found) const {
  return std::runtime_error(fmt::format("read {} in {}: {}", what_, path_.string(), found));
}

}  // namespace irregular
