#include "service/spool.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace lull::service {
namespace {

constexpr std::string_view prefix = "rows-", suffix = ".jsonl";

// The largest NUMBER of the files in a folder.
std::int64_t last_number(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  std::int64_t last = 0;
  if (!listing) return last;
  while (const dirent* const entry = ::readdir(listing.get())) {  // NOLINT(concurrency-mt-unsafe): of this listing
    std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    name.remove_prefix(prefix.size());
    std::int64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    last = std::max(last, number);
  }
  return last;
}

}  // namespace

spool::spool(std::string folder, spool_limits limits) : folder_(std::move(folder)), limits_(limits) {
  if (folder_.empty()) return;
  read_earlier();
  number_ = last_number(folder_);
}

bool spool::open_file() {
  if (file_) return true;
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return report("create", errno), false;
  file_ =
      descriptor(::open((folder_ + "/writing").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Half a row that could not be cut off before.
  if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
    report("write into", errno);
    file_.close();
  }
  return static_cast<bool>(file_);
}

void spool::read_earlier() {
  std::ifstream file(folder_ + "/writing");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    found_.insert(text.substr(begin, end - begin));
    ++rows_;
  }
  bytes_ = begin;
  is_earlier_ = rows_ > 0;
  (void)open_file();  // which cuts off the rest
}

void spool::add(std::string row) {
  if (folder_.empty()) return;
  if (waiting_.size() < limits_.waiting_rows) {
    waiting_.push_back(std::move(row));
    return;
  }
  if (lost_++ == 0)
    fmt::print(stderr, "lull-meterd: {} rows wait for {}, so that from here on rows are lost; make space there\n",
               waiting_.size(), folder_);
}

int spool::append(const std::string& line) {
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(file_.get(), line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

void spool::write(std::int64_t now_ns) {
  while (!waiting_.empty() && rows_ < limits_.rows_of_file && bytes_ < limits_.bytes_of_file && open_file()) {
    const std::string line = waiting_.front() + '\n';
    if (const int error = append(line); error != 0) {
      report("write into", error);
      file_.close();  // and cut when it is opened again
      return;
    }
    if (rows_++ == 0) since_ns_ = now_ns;
    bytes_ += line.size();
    waiting_.pop_front();
    is_failing_ = false;
  }
}

bool spool::is_due(std::int64_t now_ns) const {
  return rows_ > 0 && (is_earlier_ || rows_ >= limits_.rows_of_file || bytes_ >= limits_.bytes_of_file ||
                       now_ns - since_ns_ >= limits_.age_ns);
}

void spool::hand_on() {
  if (rows_ == 0 || !open_file()) return;
  if (::fdatasync(file_.get()) != 0) return report("write into", errno);
  // Microseconds of Unix time, unless the clock was set back.
  number_ = std::max(number_ + 1, ns_on(CLOCK_REALTIME) / 1000);
  const std::string name = fmt::format("{}/{}{:020}{}", folder_, prefix, number_, suffix);
  if (::rename((folder_ + "/writing").c_str(), name.c_str()) != 0) return report("rename in", errno);
  file_.close();
  found_.clear();
  rows_ = bytes_ = 0;
  is_earlier_ = false;
}

void spool::report(const char* action, int error) {
  if (!is_failing_)
    fmt::print(stderr, "lull-meterd: cannot {} {}: {}; rows wait in memory, at most {}\n", action, folder_,
               describe_errno(error), limits_.waiting_rows);
  is_failing_ = true;
}

}  // namespace lull::service
