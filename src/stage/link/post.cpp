#include "stage/link/post.hpp"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "transport/choice.hpp"
#include "transport/secret.hpp"

namespace lull::stage {
namespace {

enum kind : unsigned { text, content };

// The machine and network namespace of a process, and the name of its node.
struct place {
  std::string machine, network, node;
};

place own_place(const exchange& others) {
  place mine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> mine.machine;
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) == 0) mine.network = std::to_string(network.st_ino);
  mine.node = others.node();
  return mine;
}

transport::options surroundings(exchange& others) {
  const place mine = own_place(others);
  transport::options found{
      .processes = others.size(), .me = others.rank(), .one_host = true, .emulated = false, .outlives_peers = true};
  for (const auto& message : others.all(packet().put(mine.machine).put(mine.network).put(mine.node).bytes())) {
    packet_reader reader(message);
    const bool same_machine = reader.take_text() == mine.machine;
    found.one_host = found.one_host && reader.take_text() == mine.network && same_machine;
    found.emulated = found.emulated || (same_machine && reader.take_text() != mine.node);
  }
  return found;
}

}  // namespace

post::post(post_handler& to, exchange& others)
    : handler_(to), me_(others.rank()), transport_(transport::make_transport(*this, surroundings(others))) {
  const std::vector<std::byte> address = transport_->address();
  packet contact;
  contact.put(draw_secret("join the job's output"));
  std::vector<std::byte> mine(contact.bytes().begin(), contact.bytes().end());
  mine.insert(mine.end(), address.begin(), address.end());
  int process = 0;
  for (const auto& message : others.all(mine)) {
    secrets_.push_back(packet_reader(message).take<std::uint64_t>());
    transport_->set_address(process++, std::span(message).subspan(sizeof secrets_[0]));
  }
}

post::~post() { transport_->disconnect(); }

post::outgoing_message& post::write(int peer, std::uint64_t number) {
  outgoing_message& one = outgoing_.emplace_back();
  one.owner = this;
  one.self = std::prev(outgoing_.end());
  one.head = {secrets_[static_cast<std::size_t>(peer)], me_, number};
  return one;
}

void post::send(int peer, packet what) {
  outgoing_message& one = write(peer, 0);
  one.text = std::move(what);
  const auto bytes = one.text.bytes();
  transport_->send(peer, kind::text, one, std::as_bytes(std::span(&one.head, 1)), bytes.data(), bytes.size(),
                   transport::order::kept);
}

void post::send(int peer, std::uint64_t number, job::mapping what, std::size_t bytes) {
  outgoing_message& one = write(peer, number);
  one.content = std::move(what);
  transport_->send(peer, kind::content, one, std::as_bytes(std::span(&one.head, 1)), one.content.data(), bytes,
                   transport::order::free);
}

void post::received(unsigned kind, std::span<const std::byte> head, const transport::incoming& payload) {
  try {
    const auto from = packet_reader(head).take<header>();
    const bool known = from.from >= 0 && from.from < static_cast<int>(secrets_.size());
    if (!known || from.secret != secrets_[static_cast<std::size_t>(me_)]) return;
    if (kind == kind::content)
      handler_.content_from(from.from, from.number, payload);
    else if (!payload.announced)
      handler_.packet_from(from.from, packet_reader({static_cast<const std::byte*>(payload.data), payload.bytes}));
  } catch (const error&) {  // not a message of Lull's
  }
}

}  // namespace lull::stage
