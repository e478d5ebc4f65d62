#include "stage/claim.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/error.hpp"

namespace lull::stage {
namespace {

constexpr mode_t for_all = 0666;              // less the umask
constexpr off_t far_behind = off_t{1} << 61;  // no file is so long

struct flock mark(short type) {
  struct flock made {};
  made.l_type = type;
  made.l_whence = SEEK_SET;
  made.l_start = far_behind;
  made.l_len = 1;
  return made;
}

bool is_named(const std::string& path, const file_identity& which) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && file_identity{found.st_dev, found.st_ino} == which;
}

// The file's present name: it, or its folder, may have been renamed.
std::optional<std::string> name_of(const claim& place, const std::string& path) {
  if (is_named(path, place.which)) return path;
  std::array<char, 4096> found{};
  const std::string self = "/proc/self/fd/" + std::to_string(place.file.get());
  const ssize_t length = readlink(self.c_str(), found.data(), found.size());
  if (length <= 0 || static_cast<std::size_t>(length) == found.size()) return std::nullopt;
  std::string name(found.data(), static_cast<std::size_t>(length));
  return is_named(name, place.which) ? std::optional(std::move(name)) : std::nullopt;
}

// Another file in its place would lack what belongs to this one: its other names, its attributes, its stripes. A label of
// SELinux comes by itself.
bool has_more_than_content(int file, const struct stat& of) {
  if (of.st_nlink > 1) return true;
  std::array<char, 4096> names{};
  const ssize_t length = flistxattr(file, names.data(), names.size());
  if (length < 0) return errno == ERANGE;
  for (std::string_view rest(names.data(), static_cast<std::size_t>(length)); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name != "security.selinux") return true;
    rest.remove_prefix(name.size() + 1);
  }
  return false;
}

void fill_in_place(int content, int file, const std::string& path, bool sync) {
  if (ftruncate(file, 0) != 0) throw error("write " + path, describe_errno(errno));
  copy_whole(content, file, path);
  if (sync && fsync(file) != 0) throw error("write " + path, describe_errno(errno));
}

}  // namespace

std::optional<claim> take_claim(const std::string& path, bool exclusive) {
  struct stat found {};
  const bool existed = lstat(path.c_str(), &found) == 0;
  if (existed && (exclusive || !S_ISREG(found.st_mode))) return std::nullopt;
  // O_EXCL says whether it is we who create it.
  int file = existed ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, for_all);
  const bool created = file >= 0;
  if (!created && !exclusive) file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  claim made{descriptor(file), {}, created};
  if (!made.file || fstat(made.file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  made.which = {found.st_dev, found.st_ino};
  return made;
}

void mark_under_way(int claimed) noexcept {
  struct flock wanted = mark(F_WRLCK);
  (void)fcntl(claimed, F_OFD_SETLK, &wanted);  // a storage without locks: readers of other processes cannot wait
}

void lift_mark(int claimed) noexcept {
  struct flock wanted = mark(F_UNLCK);
  (void)fcntl(claimed, F_OFD_SETLK, &wanted);
}

bool wait_for_mark(int opened) noexcept {
  struct flock found = mark(F_RDLCK);
  if (fcntl(opened, F_OFD_GETLK, &found) != 0 || found.l_type == F_UNLCK) return false;
  struct flock wanted = mark(F_RDLCK);
  while (fcntl(opened, F_OFD_SETLKW, &wanted) != 0 && errno == EINTR) continue;
  lift_mark(opened);
  return true;
}

void fill_claim(int content, const claim& place, const destination& where, bool sync) try {
  struct stat now {};
  if (fstat(place.file.get(), &now) != 0) throw error("write " + where.path, describe_errno(errno));
  if (now.st_nlink == 0) return;  // the program has removed or replaced it
  const auto name = has_more_than_content(place.file.get(), now) ? std::nullopt : name_of(place, where.path);
  if (!name) return fill_in_place(content, place.file.get(), where.path, sync);
  std::optional<nameless_file> whole;
  try {
    whole.emplace(destination{*name, false, where.mark});
  } catch (const error&) {  // no other file may be made in this folder, or by this process
    const bool may_make = faccessat(AT_FDCWD, folder_of(*name).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
    if (may_make && descriptor(fcntl(content, F_DUPFD_CLOEXEC, 0))) throw;
    return fill_in_place(content, place.file.get(), where.path, sync);
  }
  copy_whole(content, whole->get(), where.path);
  whole->take_name(sync);
} catch (const error&) {
  withdraw(place, where.path);
  throw;
}

void withdraw(const claim& place, const std::string& path) noexcept try {
  struct stat now {};
  if (!place.created || fstat(place.file.get(), &now) != 0 || now.st_nlink != 1) return;
  if (const auto name = name_of(place, path)) unlink(name->c_str());
} catch (const std::exception&) {  // no memory: an empty file stays
}

}  // namespace lull::stage
