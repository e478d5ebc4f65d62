#include "stage/shared/checks/verification.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "base/counted.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "stage/shared/checks/checksum_log.hpp"
#include "stage/shared/checks/crc32c.hpp"

namespace lull::stage {
namespace {

using kind = checksum_record::kind;
using file_name = std::pair<std::uint64_t, std::string>;  // inode, path
using records = std::vector<checksum_record>;

// Returns whether the log is complete.
bool read_log(const std::filesystem::path& log, std::map<file_name, records>& all) {
  std::ifstream in(log, std::ios::binary);
  std::map<std::uint32_t, file_name> names;
  checksum_record one;
  while (in.read(reinterpret_cast<char*>(&one), sizeof one)) {
    if (one.what == kind::end) return true;
    if (one.what == kind::file) {
      std::string path(static_cast<std::size_t>(one.length), '\0');
      in.read(path.data(), one.length);
      names[one.file] = {one.order, std::move(path)};
    } else {
      all[names[one.file]].push_back(one);
    }
  }
  return false;
}

// The blocks whose bytes are the last ones handed over, by offset, and all bytes that have been handed over.
class last_bytes {
 public:
  void put(const checksum_record& one) {
    remove(one.offset, one.offset + one.length);
    blocks_[one.offset] = one;
    join(one.offset, one.offset + one.length);
  }
  void set_size(std::int64_t bytes) {
    remove(bytes, std::numeric_limits<std::int64_t>::max());
    for (auto at = all_.begin(); at != all_.end();) {
      at->second = std::min(at->second, bytes);
      at = at->first >= bytes ? all_.erase(at) : std::next(at);
    }
  }
  [[nodiscard]] const std::map<std::int64_t, checksum_record>& blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t handed_over() const {
    std::uint64_t bytes = 0;
    for (const auto& [begin, end] : all_) bytes += static_cast<std::uint64_t>(end - begin);
    return bytes;
  }

 private:
  // Of the rest of a block there is no checksum.
  void remove(std::int64_t begin, std::int64_t end) {
    auto at = blocks_.lower_bound(begin);
    if (at != blocks_.begin() && end_of(std::prev(at)->second) > begin) --at;
    while (at != blocks_.end() && at->first < end) at = blocks_.erase(at);
  }
  void join(std::int64_t begin, std::int64_t end) {
    auto at = all_.upper_bound(begin);
    if (at != all_.begin() && std::prev(at)->second >= begin) --at;
    while (at != all_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = all_.erase(at);
    }
    all_[begin] = end;
  }
  static std::int64_t end_of(const checksum_record& one) { return one.offset + one.length; }

  std::map<std::int64_t, checksum_record> blocks_;
  std::map<std::int64_t, std::int64_t> all_;  // ranges that do not touch: begin, end
};

// By the storage, not by what this machine remembers of the file.
descriptor open_again(const file_name& name) {
  descriptor file(static_cast<int>(syscall(SYS_openat, AT_FDCWD, name.second.c_str(), O_RDONLY | O_CLOEXEC)));
  struct stat found {};
  if (!file || fstat(file.get(), &found) != 0 || found.st_ino != name.first) return {};
  (void)fsync(file.get());
  (void)posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  return file;
}

std::string checked(const descriptor& file, const checksum_record& one) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(one.length));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        pread(file.get(), bytes.data() + done, bytes.size() - done, one.offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return describe_errno(errno);
    if (got == 0) return "the file is too short";
    done += static_cast<std::size_t>(got);
  }
  return crc32c(bytes) == one.sum ? "" : "they are not those that were handed over";
}

void verify_file(const file_name& name, records& of, verified& found) {
  const std::string& path = name.second;
  if (std::ranges::any_of(of, [](const auto& one) { return one.what == kind::declined; }))
    return found.not_verified.push_back(path + ": the MPI library has changed it by itself");
  if (std::ranges::any_of(of, [](const auto& one) { return one.order == 0; }))
    return found.not_verified.push_back(path + ": the order of its writes is not known");
  const descriptor file = open_again(name);
  if (!file) return found.not_verified.push_back(path + ": it has been renamed, replaced or removed");
  std::ranges::stable_sort(of, {}, &checksum_record::order);
  last_bytes last;
  for (const checksum_record& one : of) one.what == kind::size ? last.set_size(one.offset) : last.put(one);
  std::uint64_t bytes = 0, wrong = 0;
  std::string first;
  for (const auto& [offset, one] : last.blocks()) {
    const std::string problem = checked(file, one);
    bytes += static_cast<std::uint64_t>(one.length);
    if (!problem.empty() && wrong++ == 0)
      first = fmt::format("{}: read {} at {} back: {}", path, counted(one.length, "byte"), offset, problem);
  }
  found.without_sum += last.handed_over() - bytes;
  if (wrong == 0) {
    ++found.files;
    found.bytes += bytes;
  } else {
    found.mismatches.push_back(wrong == 1 ? first : fmt::format("{}, and {} more", first, counted(wrong - 1, "block")));
  }
}

}  // namespace

verified verify(const std::string& folder, int clients) {
  verified found;
  std::map<file_name, records> all;
  int complete = 0;
  std::error_code failed;
  std::vector<std::filesystem::path> logs;
  for (const auto& one : std::filesystem::directory_iterator(folder, failed))
    if (one.path().native().ends_with(checksum_log::suffix)) logs.push_back(one.path());
  for (const auto& log : logs) {
    complete += read_log(log, all) ? 1 : 0;
    std::filesystem::remove(log, failed);
  }
  if (complete != clients)
    found.mismatches.push_back(
        fmt::format("the output: {} of {} left checksums in {}", complete, counted(clients, "process"), folder));
  else
    for (auto& [name, of] : all) verify_file(name, of, found);
  return found;
}

bool report(const verified& found) {
  for (const std::string& one : found.mismatches) fmt::print(stderr, "lull: verify {}\n", one);
  for (const std::string& one : found.not_verified) fmt::print(stderr, "lull: not verified: {}\n", one);
  fmt::print(stderr, "lull: verified: {} of {} as handed over; {} overwritten in part, without a checksum\n",
             counted(found.bytes, "byte"), counted(found.files, "file"), counted(found.without_sum, "byte"));
  return found.mismatches.empty();
}

}  // namespace lull::stage
