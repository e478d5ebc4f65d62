#include "stage/link/node_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace lull::stage {
namespace {

constexpr const char* action = "connect clients and servers of output on a node";

descriptor open_socket(int more = 0) {
  descriptor opened(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0));
  if (!opened) throw error(action, describe_errno(errno));
  return opened;
}

// Space for the descriptors that a message passes.
union control_buffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * most_passed)];
};

}  // namespace

listening_socket listen_on_node(int connections) {
  listening_socket made{open_socket(SOCK_NONBLOCK), {}};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t bytes = sizeof address.sun_family;  // no name: the kernel chooses an unused one
  if (bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(made.socket.get(), connections) != 0)
    throw error(action, describe_errno(errno));
  bytes = sizeof address;
  if (getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0)
    throw error(action, describe_errno(errno));
  made.name.assign(address.sun_path, bytes - offsetof(sockaddr_un, sun_path));
  return made;
}

descriptor connect_to(const std::string& name) {
  descriptor made = open_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  while (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    if (errno == ECONNREFUSED) return {};
    if (errno != EINTR) throw error(action, describe_errno(errno));
  }
  return made;
}

descriptor accept_from(const descriptor& listening) {
  for (;;) {
    descriptor accepted(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted && (errno == EINTR || errno == ECONNABORTED)) continue;
    ucred other{};
    socklen_t bytes = sizeof other;
    const bool known = accepted && getsockopt(accepted.get(), SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0;
    if (!accepted || (known && other.uid == geteuid())) return accepted;
  }
}

transfer send_message(const descriptor& to, std::span<const std::byte> message, std::span<const int> passed,
                      bool wait) {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_buffer control{};
  if (!passed.empty()) {
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(passed.size_bytes());
    cmsghdr* const first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(passed.size_bytes());
    std::memcpy(CMSG_DATA(first), passed.data(), passed.size_bytes());
  }
  while (sendmsg(to.get(), &header, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return transfer::would_block;
    if (errno != EINTR) return transfer::gone;
  }
  return transfer::done;
}

socket_message receive_message(const descriptor& from, std::span<std::byte> buffer, bool wait) {
  iovec part{buffer.data(), buffer.size()};
  control_buffer control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  ssize_t bytes = 0;
  // ECONNRESET: the peer died before it read what it was sent. What it had sent itself can still be read.
  while ((bytes = recvmsg(from.get(), &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT))) < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {transfer::would_block, {}};
    if (errno != EINTR && errno != ECONNRESET) return {transfer::gone, {}};
  }
  if (bytes == 0) return {transfer::gone, {}};
  socket_message got{transfer::done, buffer.first(static_cast<std::size_t>(bytes))};
  if (const cmsghdr* const first = CMSG_FIRSTHDR(&header); first && first->cmsg_type == SCM_RIGHTS) {
    std::array<int, most_passed> passed{-1, -1};
    std::memcpy(passed.data(), CMSG_DATA(first), std::min(first->cmsg_len - CMSG_LEN(0), sizeof passed));
    for (std::size_t i = 0; i < most_passed; ++i) got.passed[i] = descriptor(passed[i]);
  }
  return got;
}

}  // namespace lull::stage
