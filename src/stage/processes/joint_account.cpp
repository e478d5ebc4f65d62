#include "stage/processes/joint_account.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "stage/link/node_socket.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage {
namespace {

// Sleeps until there is a message; empty: the other process has died.
std::optional<packet_reader> receive(const descriptor& from, std::span<std::byte> buffer) {
  for (;;) {
    const socket_message got = receive_message(from, buffer, false);
    if (got.state == transfer::gone) return std::nullopt;
    if (got.state == transfer::done) return packet_reader(got.bytes);
    pollfd wanted{from.get(), POLLIN, 0};
    (void)poll(&wanted, 1, -1);
  }
}

constexpr std::byte added{1};

using messages_by_rank = std::vector<std::vector<std::byte>>;

std::string node_in(const std::vector<std::byte>& message) { return packet_reader(message).take_text(); }

// The first server of each node that has one, ascending.
std::vector<int> first_servers(const roles& all, const messages_by_rank& messages) {
  std::vector<int> found;
  std::set<std::string> nodes;
  for (int process = 0; process < all.processes(); ++process)
    if (all.is_server(process) && nodes.insert(node_in(messages[static_cast<std::size_t>(process)])).second)
      found.push_back(process);
  return found;
}

}  // namespace

joint_account::joint_account(const roles& all, exchange& others) {
  const std::string node = others.node();
  const listening_socket listening = listen_on_node(others.size());
  const auto messages = others.all(packet().put(node).put(listening.name).bytes());
  for (int process = 0; process < others.rank() && !first_; ++process) {
    if (!all.is_server(process)) continue;
    packet_reader reader(messages[static_cast<std::size_t>(process)]);
    if (reader.take_text() == node) first_ = connect_to(reader.take_text());
  }
  (void)others.all({});
  while (descriptor connected = accept_from(listening.socket)) others_.push_back(std::move(connected));

  std::set<std::string> nodes;
  for (const auto& one : messages) nodes.insert(node_in(one));
  nodes_ = static_cast<int>(nodes.size());
  const std::vector<int> of_nodes = first_servers(all, messages);
  if (of_nodes.size() == 1) return;
  if (std::ranges::find(of_nodes, others.rank()) != of_nodes.end())
    other_nodes_ = std::make_unique<leaders>(of_nodes, others);
  else
    leaders::let_them_meet(others);
}

void joint_account::let_servers_meet(const roles& all, exchange& others) {
  const auto messages = others.all(packet().put(others.node()).bytes());
  (void)others.all({});
  if (first_servers(all, messages).size() > 1) leaders::let_them_meet(others);
}

void joint_account::close(const plan& how, const job_figures& mine) {
  std::array<std::byte, 1024> buffer;
  static_assert(sizeof mine <= buffer.size());
  if (first_) {
    (void)send_message(first_, packet().put(mine).bytes(), {}, true);
    if (receive(first_, buffer)) return;  // it has them
  }
  job_figures of_node = mine;
  for (const descriptor& other : others_)
    if (auto figures = receive(other, buffer)) of_node += figures->take<job_figures>();
  for (const descriptor& other : others_) (void)send_message(other, std::span(&added, 1), {}, false);
  const auto of_job = other_nodes_ ? other_nodes_->add_up(of_node) : std::optional(of_node);
  if (of_job) report(how, *of_job);
}

}  // namespace lull::stage
