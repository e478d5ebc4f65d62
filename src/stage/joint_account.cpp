#include "stage/joint_account.hpp"

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "stage/node_socket.hpp"
#include "stage/packet.hpp"

namespace lull::stage {
namespace {

// Sleeps until there is a message; none: the other has died.
std::optional<packet_reader> receive(const descriptor& from, std::span<std::byte> buffer) {
  for (;;) {
    const socket_message got = receive_message(from, buffer, false);
    if (got.state == transfer::gone) return std::nullopt;
    if (got.state == transfer::done) return packet_reader(got.bytes);
    pollfd wanted{from.get(), POLLIN, 0};
    (void)poll(&wanted, 1, -1);
  }
}

constexpr std::byte printed{1};

}  // namespace

joint_account::joint_account(const roles& all, exchange& others) {
  const std::string node = others.node();
  const listening_socket listening = listen_on_node(others.size());
  const auto told = others.all(packet().put(node).put(listening.name).bytes());
  for (int process = 0; process < others.rank() && !first_; ++process) {
    if (!all.is_server(process)) continue;
    packet_reader reader(told[static_cast<std::size_t>(process)]);
    if (reader.take_text() == node) first_ = connect_to(reader.take_text());
  }
  (void)others.all({});
  while (descriptor connected = accept_from(listening.socket)) others_.push_back(std::move(connected));
}

void joint_account::let_servers_meet(exchange& others) {
  (void)others.all({});
  (void)others.all({});
}

void joint_account::close(const plan& how, client_figures clients, server_figures server) const {
  std::array<std::byte, 1024> buffer;
  if (first_) {
    (void)send_message(first_, packet().put(clients).put(server).bytes(), -1, true);
    if (receive(first_, buffer)) return;  // it has printed them
  }
  for (const descriptor& other : others_) {
    auto told = receive(other, buffer);
    if (!told) continue;
    clients += told->take<client_figures>();
    server += told->take<server_figures>();
  }
  if (clients.processes > 0 || server.written.files > 0)
    std::fprintf(stderr, "%s\n", table_of(how, clients, server).c_str());
  for (const descriptor& other : others_) (void)send_message(other, std::span(&printed, 1), -1, false);
}

}  // namespace lull::stage
