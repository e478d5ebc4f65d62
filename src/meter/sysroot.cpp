#include "meter/sysroot.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"

namespace lull::meter {
namespace {

std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view space = " \t\n\r";
  const auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace

sysroot::sysroot(std::string root, fault inject, clock now)
    : root_(std::move(root)), inject_(std::move(inject)), now_(std::move(now)) {
  while (root_.ends_with('/')) root_.pop_back();
}

std::int64_t sysroot::now() const { return now_ ? now_() : now_ns(); }

std::string sysroot::locate(std::string_view path) const { return root_ + std::string(path); }

bool sysroot::exists(std::string_view path) const {
  // lstat: links of sysfs exist even if they point to something that a container does not see.
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(locate(path), ignored));
}

std::vector<std::string> sysroot::list(std::string_view path) const {
  std::vector<std::string> names;
  std::error_code status;
  for (std::filesystem::directory_iterator entry(locate(path), status), end; !status && entry != end;
       entry.increment(status))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string sysroot::text(std::string_view path) const {
  held_file file(*this, std::string(path));
  std::string content(1 << 16, '\0');
  return std::string(without_space_around(file.read(content).filled));
}

held_file::bytes_read held_file::read(std::span<char> buffer) {
  int error = root_.injected_fault(path_);
  if (error == 0 && !file_) {
    file_ = descriptor(::open(root_.locate(path_).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_) error = errno;
  }
  ssize_t length = 0;
  if (error == 0) {
    length = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
    if (length < 0) error = errno;
  }
  if (error != 0) {
    file_.close();
    return {{}, error};
  }
  return {std::string_view(buffer.data(), static_cast<std::size_t>(length)), 0};
}

number_read held_file::read_number() {
  std::array<char, 64> buffer;
  const auto [filled, error] = read(buffer);
  if (error != 0) return {0, error};
  const std::string_view digits = without_space_around(filled);
  number_read result;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), result.number);
  if (digits.empty() || status != std::errc{} || end != digits.data() + digits.size()) return {0, EBADMSG};
  return result;
}

}  // namespace lull::meter
