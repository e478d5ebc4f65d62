#include "regions/record_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"

namespace lull::regions {

std::string host_of_record() {
  std::string name = host_name();
  return name.empty() ? "unknown" : name;
}

std::string path_of_process(const std::string& folder, const std::string& kind) {
  return fmt::format("{}/{}-{}-{}", folder, kind, host_of_record(), getpid());
}

namespace {

int write_aside_then_rename(const std::string& aside, const std::string& path, const std::string& text) {
  descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return errno;
  int error = 0;
  for (std::size_t at = 0; at < text.size() && error == 0;) {
    const ssize_t written = ::write(file.get(), text.data() + at, text.size() - at);
    if (written >= 0)
      at += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      error = errno;
  }
  if (const int lost = file.close(); error == 0) error = lost;
  if (error == 0 && std::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(aside.c_str());
  return error;
}

}  // namespace

int leave(const std::string& folder, const std::string& kind, const std::string& text) {
  const std::string name = fmt::format("{}-{}-{}.json", kind, host_of_record(), getpid());
  return write_aside_then_rename(fmt::format("{}/.{}.aside", folder, name), fmt::format("{}/{}", folder, name), text);
}

void leave_in_record(const char* what, const std::string& kind, const std::string& text) {
  const std::string folder = setting_text("LULL_RECORD");
  if (folder.empty()) return;
  if (const int error = leave(folder, kind, text))
    fmt::print(stderr, "lull: write {} into {}: {}; set LULL_RECORD to a folder that exists\n", what, folder,
               describe_errno(error));
}

}  // namespace lull::regions
