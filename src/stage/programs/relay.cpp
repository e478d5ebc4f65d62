#include "stage/programs/relay.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "stage/link/agreed_exchange.hpp"
#include "stage/programs/staging.hpp"

namespace lull::stage {
namespace {

// Special values of the length.
constexpr std::uint64_t exit_code_follows = ~std::uint64_t{0}, one_more_follows = exit_code_follows - 1;

bool put(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool take(int socket, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool put_message(int socket, std::span<const std::byte> message) {
  const std::uint64_t bytes = message.size();
  return put(socket, &bytes, sizeof bytes) && put(socket, message.data(), message.size());
}

bool take_message(int socket, std::uint64_t bytes, std::vector<std::byte>& into) {
  into.resize(bytes);
  return take(socket, into.data(), bytes);
}

bool take_message(int socket, std::vector<std::byte>& into) {
  std::uint64_t bytes = 0;
  return take(socket, &bytes, sizeof bytes) && take_message(socket, bytes, into);
}

[[noreturn]] void rank_is_gone() { throw error("serve a program", "the rank that started this server has ended"); }

}  // namespace

std::optional<int> relay(int socket, exchange& all, std::span<const std::string> nodes_by_rank) {
  const int ranks[2] = {all.rank(), all.size()};
  bool lives = put(socket, &ranks, sizeof ranks);
  for (const std::string& node : nodes_by_rank) lives = lives && put_message(socket, std::as_bytes(std::span(node)));
  std::uint64_t bytes = 0;
  std::vector<std::byte> message;
  bool is_last = false, is_over = false;
  while (take(socket, &bytes, sizeof bytes)) {
    int code = 0;
    if (bytes == one_more_follows) {
      is_last = true;
      continue;
    }
    if (bytes == exit_code_follows) return take(socket, &code, sizeof code) ? std::optional(code) : std::nullopt;
    if (!take_message(socket, bytes, message)) break;
    const auto heard = all.all(message);
    is_over = is_last || agreed_exchange::has_failure(heard);
    for (const std::vector<std::byte>& one : heard)
      lives = lives && put_message(socket, one);  // otherwise nothing more is taken either
  }
  if (is_over) return std::nullopt;
  agreed_exchange(all, writes_itself).give_up("serve the program's output: the server ended before it had started");
  return std::nullopt;
}

relayed_exchange::relayed_exchange(int socket) : socket_(socket) {
  int ranks[2];
  if (!take(socket_, &ranks, sizeof ranks)) rank_is_gone();
  rank_ = ranks[0];
  size_ = ranks[1];
  for (int i = 0; i < size_; ++i) {
    std::vector<std::byte> node;
    if (!take_message(socket_, node)) rank_is_gone();
    nodes_.emplace_back(reinterpret_cast<const char*>(node.data()), node.size());
  }
}

std::vector<std::vector<std::byte>> relayed_exchange::all(std::span<const std::byte> mine) {
  std::vector<std::vector<std::byte>> messages(static_cast<std::size_t>(size_));
  bool lives = put_message(socket_, mine);
  for (std::vector<std::byte>& one : messages) lives = lives && take_message(socket_, one);
  if (!lives && !is_last_) rank_is_gone();
  return messages;
}

void relayed_exchange::one_more() {
  is_last_ = true;
  (void)put(socket_, &one_more_follows, sizeof one_more_follows);
}

void say_exit_code(int socket, int code) {
  if (put(socket, &exit_code_follows, sizeof exit_code_follows)) put(socket, &code, sizeof code);
}

}  // namespace lull::stage
