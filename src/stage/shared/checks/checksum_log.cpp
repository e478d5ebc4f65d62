#include "stage/shared/checks/checksum_log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "base/error.hpp"
#include "stage/shared/checks/crc32c.hpp"

namespace lull::stage {
namespace {

constexpr std::size_t buffered = std::size_t{256} << 10U;

std::string name_of_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

}  // namespace

// The program's open() would wait for files that are pending. Nodes that are emulated have the same host.
checksum_log::checksum_log(const std::string& folder)
    : path_(fmt::format("{}/{}-{}{}", folder, name_of_host(), getpid(), suffix)),
      file_(static_cast<int>(
          syscall(SYS_openat, AT_FDCWD, path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600))) {
  if (!file_)
    throw error(fmt::format("write checksums into {}", path_), describe_errno(errno),
                "name a folder that exists, that all nodes see, and that has no checksums of an earlier run");
}

std::vector<checksum_record> checksum_log::sums_of(std::span<const piece> pieces, const std::byte* data) {
  std::vector<checksum_record> sums;
  for (const piece& one : pieces)
    for (std::int64_t at = one.offset; at < one.end();) {
      const std::int64_t bytes = std::min(one.end(), (at / block_bytes + 1) * block_bytes) - at;
      sums.push_back({.what = checksum_record::kind::bytes,
                      .offset = at,
                      .length = bytes,
                      .sum = crc32c({data, static_cast<std::size_t>(bytes)})});
      data += bytes;
      at += bytes;
    }
  return sums;
}

void checksum_log::wrote(const std::string& path, std::uint64_t inode, std::uint64_t order,
                         std::vector<checksum_record> sums) {
  const std::lock_guard hold(mutex_);
  const std::uint32_t file = number_of({inode, path});
  for (checksum_record& one : sums) {
    one.file = file;
    one.order = order;
    add(one);
  }
}

void checksum_log::set_size(const std::string& path, std::uint64_t inode, std::uint64_t order, std::int64_t bytes) {
  const std::lock_guard hold(mutex_);
  add({.what = checksum_record::kind::size, .file = number_of({inode, path}), .order = order, .offset = bytes});
}

void checksum_log::declined(const std::string& path, std::uint64_t inode) {
  const std::lock_guard hold(mutex_);
  add({.what = checksum_record::kind::declined, .file = number_of({inode, path})});
}

void checksum_log::end() {
  const std::lock_guard hold(mutex_);
  if (std::exchange(ended_, true)) return;
  add({.what = checksum_record::kind::end});
  flush();
  if (failed_ != 0) fmt::print(stderr, "lull: write checksums into {}: {}\n", path_, describe_errno(failed_));
}

std::uint32_t checksum_log::number_of(const name& file) {
  const auto [known, is_new] = files_.emplace(file, static_cast<std::uint32_t>(files_.size()));
  if (is_new) {
    const auto& [inode, path] = file;
    add({.what = checksum_record::kind::file,
         .file = known->second,
         .order = inode,
         .length = static_cast<std::int64_t>(path.size())});
    const auto text = std::as_bytes(std::span(path));
    buffer_.insert(buffer_.end(), text.begin(), text.end());
  }
  return known->second;
}

void checksum_log::add(const checksum_record& one) {
  if (buffer_.size() > buffered) flush();
  const auto bytes = std::as_bytes(std::span(&one, 1));
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void checksum_log::flush() {
  for (std::size_t done = 0; done < buffer_.size() && failed_ == 0;) {
    const ssize_t written = ::write(file_.get(), buffer_.data() + done, buffer_.size() - done);
    if (written >= 0)
      done += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      failed_ = errno;
  }
  buffer_.clear();
}

}  // namespace lull::stage
