#include "stage/files/whole_file.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace lull::stage {
namespace fs = std::filesystem;

namespace {

constexpr mode_t for_all = 0666;  // less the umask
constexpr int most_links = 40;    // in a chain of symbolic links; the kernel's own limit

struct failure {
  int code;  // errno
};

void check(bool well) {
  if (!well) throw failure{errno};
}

std::string temporary_name(const destination& where) {
  return fs::path(where.path).parent_path() / (".lull-stage-" + where.mark);
}

// Follows symbolic links, including those to a path that does not exist yet, like open() with O_CREAT.
std::optional<fs::path> without_links(fs::path path) {
  for (int followed = 0; followed <= most_links; ++followed) {
    if (!path.has_filename() || path.filename() == "." || path.filename() == "..") return std::nullopt;
    std::error_code status;
    const fs::path folder = fs::canonical(path.parent_path(), status);
    if (status) return std::nullopt;
    path = folder / path.filename();
    const fs::path target = fs::read_symlink(path, status);
    if (status) return path;
    path = folder / target;
  }
  return std::nullopt;
}

void copy_piece(int from, int to, off_t begin, off_t end) {
  check(lseek(to, begin, SEEK_SET) == begin);
  while (begin < end) {
    const ssize_t sent = sendfile(to, from, &begin, static_cast<std::size_t>(end - begin));
    if (sent > 0 || (sent < 0 && errno == EINTR)) continue;
    if (sent == 0) throw failure{EIO};          // the content has become shorter
    check(errno == EINVAL || errno == ENOSYS);  // this file system only takes bytes from a buffer
    std::vector<char> buffer(std::size_t{1} << 20U);
    while (begin < end) {
      const ssize_t got =
          pread(from, buffer.data(), std::min(buffer.size(), static_cast<std::size_t>(end - begin)), begin);
      if (got == 0) throw failure{EIO};
      check(got > 0);
      for (ssize_t put = 0; put < got;) {
        const ssize_t now = pwrite(to, buffer.data() + put, static_cast<std::size_t>(got - put), begin + put);
        check(now > 0 || errno == EINTR);
        if (now > 0) put += now;
      }
      begin += got;
    }
  }
}

void copy_content(int from, int to) {
  const off_t size = lseek(from, 0, SEEK_END);
  check(size >= 0 && ftruncate(to, size) == 0);
  for (off_t begin = 0; begin < size;) {
    begin = lseek(from, begin, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) return;  // the rest is a hole
    check(begin >= 0);
    const off_t end = lseek(from, begin, SEEK_HOLE);
    check(end >= 0);
    copy_piece(from, to, begin, end);
    begin = end;
  }
}

// Applied because opening an existing file for writing would change neither its mode nor its owner.
void keep_mode_and_owner(int file, const std::string& replaced) {
  struct stat old {};
  struct stat fresh {};
  if (stat(replaced.c_str(), &old) != 0) return;
  check(fstat(file, &fresh) == 0);
  if (old.st_uid != fresh.st_uid || old.st_gid != fresh.st_gid)
    (void)!fchown(file, old.st_uid, old.st_gid);  // only root may change the owner
  check(fchmod(file, old.st_mode & 07777U) == 0);
}

template <class Step>
void writing(const std::string& path, Step&& step) {
  try {
    step();
  } catch (const failure& why) {
    throw error("write " + path, describe_errno(why.code));
  }
}

}  // namespace

std::string folder_of(const std::string& path) { return fs::path(path).parent_path(); }

std::optional<std::string> final_path_of(const std::string& path) {
  std::error_code status;
  const fs::path absolute = fs::absolute(path, status);
  const auto found = status ? std::nullopt : without_links(absolute);
  return found ? std::optional(found->string()) : std::nullopt;
}

nameless_file::nameless_file(destination where) : where_(std::move(where)), temporary_(temporary_name(where_)) {
  writing(where_.path, [this] { open(); });
}

nameless_file::~nameless_file() {
  if (temporary_exists_) unlink(temporary_.c_str());
}

void nameless_file::open() {
  file_ = descriptor(::open(folder_of(where_.path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, for_all));
  if (!file_) {
    check(errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT);
    file_ = descriptor(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, for_all));
    check(static_cast<bool>(file_));
    temporary_exists_ = true;
  }
  try {
    keep_mode_and_owner(file_.get(), where_.path);
  } catch (...) {
    if (temporary_exists_) unlink(temporary_.c_str());
    throw;
  }
}

bool nameless_file::link_to(const std::string& path) const {
  const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

void nameless_file::take_name(bool sync) {
  writing(where_.path, [&] {
    check(!sync || fsync(file_.get()) == 0);
    bool named = false;
    if (!temporary_exists_) {
      named = link_to(where_.path);
      check(named || (errno == EEXIST && !where_.exclusive));
      check(named || link_to(temporary_));  // link() does not replace a file, rename() does
      temporary_exists_ = !named;
    }
    if (!named) {
      if (const int lost = file_.close()) throw failure{lost};
      if (where_.exclusive)
        check(
            renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, where_.path.c_str(), RENAME_NOREPLACE) == 0 ||
            (errno == EINVAL && link(temporary_.c_str(), where_.path.c_str()) == 0 && unlink(temporary_.c_str()) == 0));
      else
        check(rename(temporary_.c_str(), where_.path.c_str()) == 0);
      temporary_exists_ = false;
    }
    if (!sync) return;
    const descriptor folder(::open(folder_of(where_.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    check(folder && (fsync(folder.get()) == 0 || errno == EINVAL));
  });
}

void copy_whole(int content, int to, const std::string& path) {
  writing(path, [&] { copy_content(content, to); });
}

void write_whole_file(int content, const destination& where, bool sync) {
  nameless_file file(where);
  copy_whole(content, file.get(), where.path);
  file.take_name(sync);
}

void remove_leftover(const destination& where) { unlink(temporary_name(where).c_str()); }

}  // namespace lull::stage
