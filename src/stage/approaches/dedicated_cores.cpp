// Dedicated cores: on each node some processes write what the others hand over.
//
// A client passes the descriptor of the file, which is in memory, to its server over a socket of the node: nothing is
// copied, and the file survives its client. The server answers over the same socket. When one of them dies, the other
// sees the end of the socket.
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "job/layout.hpp"
#include "stage/approaches/approach.hpp"
#include "stage/files/messages.hpp"
#include "stage/link/descriptor_limit.hpp"
#include "stage/link/node_socket.hpp"
#include "stage/writing/kept_files.hpp"
#include "stage/writing/writer.hpp"

namespace lull::stage {
namespace {

std::vector<int> assign(int count, std::span<const std::string> nodes) {
  std::map<std::string_view, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) ranks_of[nodes[rank]].push_back(static_cast<int>(rank));
  std::vector<int> server_of(nodes.size(), no_server);
  for (const auto& [node, ranks] : ranks_of) {
    const int servers = std::min(count, static_cast<int>(ranks.size()) - 1);
    const int clients = static_cast<int>(ranks.size()) - servers;
    for (int position = 0; position < static_cast<int>(ranks.size()) && servers > 0; ++position) {
      const int server =
          position < clients ? clients + job::block_of(position, clients, std::min(servers, clients)) : position;
      server_of[static_cast<std::size_t>(ranks[static_cast<std::size_t>(position)])] =
          ranks[static_cast<std::size_t>(server)];
    }
  }
  return server_of;
}

// ---- messages
// ----------------------------------------------------------------------------------------------------------

// From a server to all, before its clients connect: this, then the name of its socket.
struct invitation {
  std::uint64_t secret;            // a client returns it: a process that finds the socket by chance does not know it
  std::uint64_t most_outstanding;  // files of one client
};

// ---- client
// --------------------------------------------------------------------------------------------------------------

class node_uplink final : public uplink {
 public:
  // A server that is dead by now is noticed like one that dies later.
  node_uplink(const invitation& from, const std::string& name, int rank) : socket_(connect_to(name)) {
    (void)send(packet().put(message::hello).put(from.secret).put(rank));
  }

  bool hand_over(std::uint64_t number, const staged_file& file, const std::string& mark) override {
    if (!send_file(message::file, number, file, mark)) return false;
    if (file.kept) release(*file.kept);
    return true;
  }

  bool keep(std::uint64_t number, const staged_file& file, const std::string& mark) override {
    return send_file(message::keep, number, file, mark);
  }

  bool flushed(std::uint64_t number) override { return send(kept_message(message::flushed, number)); }
  void release(std::uint64_t number) override { (void)send(kept_message(message::release, number)); }

  bool is_gone() const noexcept override {
    pollfd end{socket_.get(), 0, 0};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  }

  void say(remark what, std::uint64_t after) override { (void)send(remark_message(what, after)); }

  received receive(bool wait) override {
    std::array<std::byte, largest_message> buffer;
    const socket_message got = receive_message(socket_, buffer, wait);
    if (got.state == transfer::would_block) return nothing_yet{};
    if (got.state == transfer::gone) return server_gone{};
    packet_reader reader(got.bytes);
    (void)reader.take<message>();
    return take_answer(reader);
  }

  void leave(const client_figures& mine) override { (void)send(leave_message(mine)); }

 private:
  bool send_file(message what, std::uint64_t number, const staged_file& file, const std::string& mark) {
    const claim* const place = file.place();
    const std::array passed{file.descriptor(), place != nullptr ? place->file.get() : -1};
    return send(file_message(what, number, file, mark), std::span(passed).first(place != nullptr ? 2 : 1));
  }

  bool send(const packet& what, std::span<const int> passed = {}) {
    return send_message(socket_, what.bytes(), passed, true) == transfer::done;
  }

  descriptor socket_;
};

joined join(const plan&, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node) {
  const auto messages = others.all({});
  joined made;
  if (const int server = all.server_of(others.rank()); server != no_server) {
    packet_reader reader(messages[static_cast<std::size_t>(server)]);
    const auto invited = reader.take<invitation>();
    made.most_outstanding = invited.most_outstanding;
    made.up = std::make_unique<node_uplink>(invited, reader.take_text(), others.rank());
    made.how_far = of_node;
    of_node->serve(others.rank(), server);
  }
  (void)others.all({});  // afterwards the server need not wait: all live clients have connected
  return made;
}

// ---- server
// --------------------------------------------------------------------------------------------------------------

class node_server {
 public:
  node_server(const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node,
              const storage_limit& storage)
      : writer_(wanted.sync, all.clients_of(others.rank()), storage), progress_(of_node) {
    const std::size_t clients = all.clients_of(others.rank()).size();
    if (getrandom(&invitation_.secret, sizeof invitation_.secret, 0) != sizeof invitation_.secret)
      throw error("serve output", describe_errno(errno));
    // Of an outstanding file: content and place, and again while it is open.
    constexpr std::size_t descriptors = 4;
    invitation_.most_outstanding = most_outstanding_files(clients, descriptors);
    const listening_socket listening = listen_on_node(static_cast<int>(clients));
    (void)others.all(packet().put(invitation_).put(listening.name).bytes());
    (void)others.all({});
    while (descriptor connected = accept_from(listening.socket)) members_.push_back({std::move(connected)});
    others.one_more();
    (void)others.all({});  // all have joined
  }

  served run();

 private:
  struct member {
    descriptor socket;
    int rank = no_server;  // before its hello
    std::deque<packet> to_send = {};
    bool has_left = false;
  };
  [[nodiscard]] bool done() const { return members_.empty() && writer_.idle(); }
  void sleep();
  void receive(member& from);
  void end_of(const member& gone);
  void handle(member& from, packet_reader reader, message what, std::array<descriptor, most_passed> passed);
  void answer_finished();
  static void send_pending(member& to);

  writer writer_;
  kept_files kept_;
  std::shared_ptr<progress> progress_;
  invitation invitation_{};
  std::vector<member> members_;             // connected; without a socket: to be removed
  std::map<int, std::uint32_t> under_way_;  // number of whole files, by client; also of dead clients
  client_figures figures_;
};

served node_server::run() {
  while (!done()) {
    sleep();
    answer_finished();
    for (member& one : members_) {
      if (one.socket) receive(one);
      if (one.socket) send_pending(one);
    }
    for (const member& one : members_)
      if (!one.socket) end_of(one);
    std::erase_if(members_, [](const member& one) { return !one.socket; });
    if (members_.empty()) writer_.all_have_ended();
  }
  return {figures_, writer_.figures()};
}

void node_server::sleep() {
  std::vector<pollfd> wanted{{writer_.event_fd(), POLLIN, 0}};
  for (const member& one : members_) {
    const int events = one.to_send.empty() ? POLLIN : POLLIN | POLLOUT;
    wanted.push_back({one.socket.get(), static_cast<short>(events), 0});
  }
  if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) throw error("serve output", describe_errno(errno));
}

void node_server::receive(member& from) {
  std::array<std::byte, largest_message> buffer;
  for (;;) {
    socket_message got = receive_message(from.socket, buffer, false);
    if (got.state == transfer::would_block) return;
    if (got.state == transfer::gone) break;
    try {
      packet_reader reader(got.bytes);
      const auto what = reader.take<message>();
      handle(from, reader, what, std::move(got.passed));
    } catch (const error&) {
      break;  // not a message of Lull's
    }
    if (!from.socket) return;
  }
  from.socket = {};
}

// Files that it has handed over are written; so are flushed files that it keeps, if it has died.
void node_server::end_of(const member& gone) {
  writer_.heard(gone.rank, remark::ends);
  if (!gone.has_left)
    for (write_order& order : kept_.end_of(gone.rank)) writer_.submit(std::move(order));
  if (const auto known = under_way_.find(gone.rank); known != under_way_.end())
    progress_->forget(known->first, known->second);
}

void node_server::handle(member& from, packet_reader reader, message what, std::array<descriptor, most_passed> passed) {
  if (from.rank == no_server) {
    const bool knows = what == message::hello && reader.take<std::uint64_t>() == invitation_.secret;
    if (!knows) throw error("join the server of output", "the client does not have the job's key");
    from.rank = reader.take<int>();
    if (!under_way_.emplace(from.rank, 0).second)
      throw error("join the server of output", "this client has joined already");
  } else if (what == message::file || what == message::keep) {
    write_order order = take_order(reader);
    order.client = from.rank;
    order.content = std::move(passed[0]);
    order.place.file = std::move(passed[1]);
    const bool has_all = order.content && (order.place.file || order.what != form::whole);
    if (what == message::keep) {
      if (has_all) kept_.keep(std::move(order));
    } else if (has_all) {
      if (order.what == form::whole) ++under_way_.at(from.rank);
      writer_.submit(std::move(order));
    } else {  // no descriptor is left
      if (order.what == form::whole) progress_->give_back(from.rank);
      from.to_send.push_back(answer_message({order.number, answer::outcome::not_taken, {}}));
    }
  } else if (what == message::flushed) {
    kept_.flushed(from.rank, reader.take<std::uint64_t>());
  } else if (what == message::release) {
    kept_.release(from.rank, reader.take<std::uint64_t>());
  } else if (what == message::remark) {
    const auto said = reader.take<remark>();
    writer_.heard(from.rank, said, reader.take<std::uint64_t>());
  } else if (what == message::leave) {
    figures_ += take_figures(reader);
    from.has_left = true;
    from.socket = {};
  }
}

void node_server::answer_finished() {
  for (const auto& [client, what, order, result] : writer_.finished()) {
    if (result.number == kept_files::number) continue;  // no client is left to receive the answer
    if (what == form::whole) {
      --under_way_.at(client);
      progress_->end_whole(client, order, result.what == answer::outcome::failed);
    }
    const auto to = std::ranges::find(members_, client, &member::rank);
    if (to == members_.end()) continue;  // it has died
    to->to_send.push_back(answer_message(result));
  }
}

void node_server::send_pending(member& to) {
  while (!to.to_send.empty()) {
    const transfer sent = send_message(to.socket, to.to_send.front().bytes(), {}, false);
    if (sent == transfer::would_block) return;
    if (sent == transfer::gone) return to.to_send.clear();  // receive() sees its end after its last messages
    to.to_send.pop_front();
  }
}

}  // namespace

const approach_row dedicated_cores{
    .how = approach::dedicated_cores,
    .assign = assign,
    .join = join,
    .serve = [](const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node,
                const storage_limit& storage) { return node_server(wanted, all, others, of_node, storage).run(); }};

}  // namespace lull::stage
