#include "stage/staged_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::stage {
namespace {

kept_memory empty_memory(const std::string& final_path) {
  const auto file = std::make_shared<const descriptor>(memfd_create("lull-stage", MFD_CLOEXEC));
  if (!*file) throw error("stage " + final_path + " in memory", describe_errno(errno));
  return {file->get(), 0, file};
}

}  // namespace

staged_file::staged_file(std::string final_path, bool exclusive, bool dropped)
    : final_path_(std::move(final_path)),
      content_(empty_memory(final_path_)),
      exclusive_(exclusive),
      dropped_(dropped) {}

staged_file::staged_file(std::string final_path, form what, kept_memory content, std::string together)
    : final_path_(std::move(final_path)), content_(std::move(content)), form_(what), together_(std::move(together)) {}

std::string staged_file::path() const { return "/proc/self/fd/" + std::to_string(content_.descriptor); }

std::size_t staged_file::bytes() const {
  if (form_ != form::whole) return content_.bytes;
  struct stat found {};
  return fstat(content_.descriptor, &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

}  // namespace lull::stage
