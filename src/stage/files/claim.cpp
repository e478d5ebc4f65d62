#include "stage/files/claim.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/error.hpp"

namespace lull::stage {
namespace {

constexpr mode_t for_all = 0666;              // less the umask
constexpr off_t far_behind = off_t{1} << 61;  // longer than any file

struct flock mark(short type) {
  struct flock made {};
  made.l_type = type;
  made.l_whence = SEEK_SET;
  made.l_start = far_behind;
  made.l_len = 1;
  return made;
}

file_identity identity_of(const struct stat& of) { return {of.st_dev, of.st_ino}; }

[[noreturn]] void fail(const std::string& path) { throw error("write " + path, describe_errno(errno)); }

// The location of a file: calls relative to the folder's descriptor stay valid if the folder is renamed.
struct location {
  descriptor folder;
  std::string name;
};

std::optional<location> at(const std::string& path, const file_identity& which) {
  location found{descriptor(open(folder_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
                 path.substr(path.rfind('/') + 1)};
  struct stat there {};
  if (!found.folder || fstatat(found.folder.get(), found.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 ||
      identity_of(there) != which)
    return std::nullopt;
  return found;
}

// By its current name: the file or its folder may have been renamed.
std::optional<location> locate(const claim& place, const std::string& path) {
  if (auto found = at(path, place.which)) return found;
  std::array<char, 4096> name{};
  const std::string self = "/proc/self/fd/" + std::to_string(place.file.get());
  const ssize_t length = readlink(self.c_str(), name.data(), name.size());
  if (length <= 0 || static_cast<std::size_t>(length) == name.size()) return std::nullopt;
  return at(std::string(name.data(), static_cast<std::size_t>(length)), place.which);
}

// A file without a name, or with a temporary one, that then takes the name of another.
class replacement {
 public:
  replacement(const location& where, const std::string& mark) : where_(where), temporary_(".lull-stage-" + mark) {
    file_ = descriptor(openat(where_.folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, for_all));
    if (file_ || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)) return;
    file_ = descriptor(openat(where_.folder.get(), temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, for_all));
    is_named_ = static_cast<bool>(file_);
  }
  ~replacement() {
    if (is_named_) unlinkat(where_.folder.get(), temporary_.c_str(), 0);
  }
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(file_); }
  [[nodiscard]] int get() const { return file_.get(); }

  enum class outcome { done, moved, impossible };
  // Takes the name of the file `which`. Moved: that file is no longer there; nothing has changed. Impossible: this
  // storage does not support it.
  [[nodiscard]] outcome take_name_of(const file_identity& which) {
    const int folder = where_.folder.get();
    if (!is_named_) {
      const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
      is_named_ = linkat(AT_FDCWD, self.c_str(), folder, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }
    if (!is_named_) return outcome::impossible;
    if (exchange()) {
      if (is_temporary(which)) return outcome::done;  // the temporary name is now the old file's, which is removed
      (void)exchange();
      return outcome::moved;
    }
    if (errno == ENOENT) return outcome::moved;
    struct stat there {};
    if (fstatat(folder, where_.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 || identity_of(there) != which)
      return outcome::moved;
    if (renameat(folder, temporary_.c_str(), folder, where_.name.c_str()) != 0) return outcome::impossible;
    is_named_ = false;
    return outcome::done;
  }

 private:
  [[nodiscard]] bool exchange() const {
    const int folder = where_.folder.get();
    return renameat2(folder, temporary_.c_str(), folder, where_.name.c_str(), RENAME_EXCHANGE) == 0;
  }
  [[nodiscard]] bool is_temporary(const file_identity& which) const {
    struct stat there {};
    return fstatat(where_.folder.get(), temporary_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           identity_of(there) == which;
  }

  const location& where_;
  std::string temporary_;
  descriptor file_;
  bool is_named_ = false;
};

// Whether a replacement would lose something of this file: other names, attributes, stripes. A replacement gets its
// SELinux label automatically.
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
  if (ftruncate(file, 0) != 0) fail(path);
  copy_whole(content, file, path);
  if (sync && fsync(file) != 0) fail(path);
}

void sync_folder(const location& where) {
  const descriptor folder(openat(where.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) (void)fsync(folder.get());
}

}  // namespace

std::optional<claim> take_claim(const std::string& path, bool exclusive) {
  struct stat found {};
  const bool existed = lstat(path.c_str(), &found) == 0;
  if (existed && (exclusive || !S_ISREG(found.st_mode))) return std::nullopt;
  // O_EXCL tells whether this call creates it.
  int file = existed ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, for_all);
  const bool created = file >= 0;
  if (!created && !exclusive) file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  claim made{descriptor(file), {}, created};
  if (!made.file || fstat(made.file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  made.which = identity_of(found);
  return made;
}

void mark_under_way(int claimed) noexcept {
  struct flock wanted = mark(F_WRLCK);
  (void)fcntl(claimed, F_OFD_SETLK, &wanted);  // on a storage without locks, readers in other processes cannot wait
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
  constexpr int most_tries = 8;  // others may rename it in between
  for (int tried = 0; tried < most_tries; ++tried) {
    struct stat now {};
    if (fstat(place.file.get(), &now) != 0) fail(where.path);
    if (now.st_nlink == 0) return;  // the program has removed or replaced it
    if (has_more_than_content(place.file.get(), now)) break;
    const auto found = locate(place, where.path);
    if (!found) break;
    replacement whole(*found, where.mark);
    if (!whole) break;  // no other file can be made in this folder, or by this process
    if (now.st_uid != geteuid() || now.st_gid != getegid())
      (void)!fchown(whole.get(), now.st_uid, now.st_gid);  // only root may change the owner
    if (fchmod(whole.get(), now.st_mode & 07777U) != 0) fail(where.path);
    copy_whole(content, whole.get(), where.path);
    if (sync && fsync(whole.get()) != 0) fail(where.path);
    const auto outcome = whole.take_name_of(place.which);
    if (outcome == replacement::outcome::impossible) break;
    if (outcome == replacement::outcome::moved) continue;
    if (sync) sync_folder(*found);
    return;
  }
  fill_in_place(content, place.file.get(), where.path, sync);
} catch (const error&) {
  withdraw(place, where.path);
  throw;
}

void withdraw(const claim& place, const std::string& path) noexcept try {
  struct stat now {};
  if (!place.created || fstat(place.file.get(), &now) != 0 || now.st_nlink != 1) return;
  if (const auto found = locate(place, path)) unlinkat(found->folder.get(), found->name.c_str(), 0);
} catch (const std::exception&) {  // no memory: an empty file remains
}

}  // namespace lull::stage
