#include "stage/files/staged_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::stage {
namespace {

std::shared_ptr<descriptor> empty_memory(const std::string& final_path) {
  auto file = std::make_shared<descriptor>(memfd_create("lull-stage", MFD_CLOEXEC));
  if (!*file) throw error("stage " + final_path + " in memory", describe_errno(errno));
  return file;
}

}  // namespace

staged_file::staged_file(std::string final_path, claim place, bool dropped)
    : final_path_(std::move(final_path)),
      memory_(empty_memory(final_path_)),
      content_{memory_->get(), 0, memory_},
      place_(std::move(place)),
      dropped_(dropped) {}

staged_file::staged_file(std::string final_path, form what, kept_memory content, std::string together)
    : final_path_(std::move(final_path)), content_(std::move(content)), form_(what), together_(std::move(together)) {}

std::string staged_file::path() const { return "/proc/self/fd/" + std::to_string(content_.descriptor); }

void staged_file::become_its_place() {
  const int mine = content_.descriptor, place = place_->file.get();
  auto same = std::make_shared<class descriptor>(fcntl(mine, F_DUPFD_CLOEXEC, 0));
  if (!*same || ftruncate(place, 0) != 0) throw error("write " + final_path_, describe_errno(errno));
  copy_whole(mine, place, final_path_);
  (void)lseek(place, lseek(mine, 0, SEEK_CUR), SEEK_SET);
  const int flags = fcntl(mine, F_GETFD);
  if (dup3(place, mine, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) < 0)
    throw error("write " + final_path_, describe_errno(errno));
  (void)memory_->release();
  (void)!ftruncate(same->get(), 0);
  content_ = {same->get(), 0, same};
  memory_ = std::move(same);
  place_.reset();
}

std::size_t staged_file::bytes() const {
  if (form_ != form::whole) return content_.bytes;
  struct stat found {};
  return fstat(content_.descriptor, &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

}  // namespace lull::stage
