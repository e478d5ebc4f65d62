#include "service/listening.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace lull::service {
namespace {

constexpr int first_given = 3;  // sd_listen_fds(3)
constexpr int backlog = 4096;   // messages of schedulers that wait while the service is busy
constexpr const char* name_of_users = "meter";
constexpr const char* name_of_scheduler = "accounts";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw error("listen at " + path, "the path is too long for a socket", "choose a shorter --socket-folder");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

descriptor seqpacket_socket() {
  return descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

descriptor listen_at(const std::string& path, mode_t mode) {
  const sockaddr_un address = address_of(path);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (const descriptor other = seqpacket_socket()) {
    if (::connect(other.get(), generic, sizeof address) == 0 || errno == EAGAIN)
      throw error("listen at " + path, "another service answers there", "stop it, or choose another --socket-folder");
    if (errno == ECONNREFUSED) ::unlink(path.c_str());
  }
  descriptor made = seqpacket_socket();
  const mode_t before = ::umask(static_cast<mode_t>(~mode & 0777));
  const bool is_bound = made && ::bind(made.get(), generic, sizeof address) == 0;
  const int error_of_bind = errno;
  ::umask(before);
  if (!is_bound || ::listen(made.get(), backlog) != 0)
    throw error("listen at " + path, describe_errno(is_bound ? errno : error_of_bind), "");
  return made;
}

std::string path_of(int fd) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 || address.sun_family != AF_UNIX)
    return {};
  return {address.sun_path, strnlen(address.sun_path, sizeof address.sun_path)};
}

sockets given_sockets(int count) {
  sockets result;
  result.are_given = true;
  for (int fd = first_given; fd < first_given + count; ++fd) {
    descriptor one(fd);
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    const std::string path = path_of(fd);
    if (path.ends_with(std::string("/") + name_of_users))
      result.of_users = std::move(one);
    else if (path.ends_with(std::string("/") + name_of_scheduler))
      result.of_scheduler = std::move(one);
  }
  if (!result.of_users || !result.of_scheduler)
    throw error("take the sockets of systemd", "they are not FOLDER/meter and FOLDER/accounts",
                "see packaging/service/lull-meterd.socket");
  return result;
}

}  // namespace

sockets open_sockets(const std::string& folder) {
  const char* const count = text_of_environment("LISTEN_FDS");
  const char* const pid = text_of_environment("LISTEN_PID");
  if (count != nullptr && pid != nullptr && std::atol(pid) == ::getpid()) return given_sockets(std::atoi(count));
  return {.of_users = listen_at(folder + "/" + name_of_users, 0666),
          .of_scheduler = listen_at(folder + "/" + name_of_scheduler, 0600)};
}

void remove_sockets(const sockets& s, const std::string& folder) {
  if (s.are_given) return;
  for (const char* name : {name_of_users, name_of_scheduler}) ::unlink((folder + "/" + name).c_str());
}

std::optional<peer> peer_of(int connection, std::optional<std::int64_t> group) {
  ucred who{};
  socklen_t length = sizeof who;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return std::nullopt;
  peer result{.uid = static_cast<std::int64_t>(who.uid), .in_group = false};
  if (!group) return result;
  std::vector<gid_t> groups(64);
  length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  int status = ::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
  if (status != 0 && errno == ERANGE) {
    groups.resize(length / sizeof(gid_t));
    status = ::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
  }
  groups.resize(status == 0 ? length / sizeof(gid_t) : 0);
  groups.push_back(who.gid);
  result.in_group = std::ranges::any_of(groups, [&](gid_t g) { return static_cast<std::int64_t>(g) == *group; });
  return result;
}

}  // namespace lull::service
