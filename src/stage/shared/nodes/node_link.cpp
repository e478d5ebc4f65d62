#include "stage/shared/nodes/node_link.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/blocked_signals.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/futex.hpp"

namespace lull::stage {
namespace {

constexpr std::int64_t ring_again_ns = 1'000'000'000;
constexpr std::int64_t see_to_servers_ns = 50'000'000;  // while something is pending
constexpr int look_again_ms = 50;                       // at the end, whether other servers of the node have ended
constexpr int calls_of_post = 2;                        // collective ones, of its constructor

// The exchange between some of the processes, in which all others take part by calls without a message.
class some_of final : public exchange {
 public:
  some_of(exchange& all, std::vector<int> ranks) : all_(all), ranks_(std::move(ranks)) {}
  // After a failure, too.
  void complete() {
    for (; calls_ < calls_of_post; ++calls_) (void)all_.all({});
  }

  [[nodiscard]] int rank() const override {
    return static_cast<int>(std::ranges::find(ranks_, all_.rank()) - ranks_.begin());
  }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::string node() const override { return all_.node(); }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override {
    ++calls_;
    const auto messages = all_.all(mine);
    std::vector<std::vector<std::byte>> found;
    for (const int rank : ranks_) found.push_back(messages[static_cast<std::size_t>(rank)]);
    return found;
  }

 private:
  exchange& all_;
  std::vector<int> ranks_;
  int calls_ = 0;
};

// The first server of each node, in the order of the nodes' numbers.
std::vector<int> ranks_of_links(const std::vector<std::string>& nodes, const roles& all) {
  std::vector<int> found;
  std::set<std::string> known;
  for (int rank = 0; rank < all.processes(); ++rank)
    if (all.is_server(rank) && known.insert(nodes[static_cast<std::size_t>(rank)]).second) found.push_back(rank);
  return found;
}

}  // namespace

node_link::node_link(std::shared_ptr<directory> of, exchange& links, const storage_limit& storage)
    : of_(std::move(of)), post_(*this, links), lost_servers_(of_, storage), bell_(open_event_fd()) {
  if (!bell_) throw error("share files of several nodes", describe_errno(errno));
  const send_function send = [this](int node, packet text) { post_.send(node, std::move(text)); };
  if (of_->is_home())
    home_ = std::make_unique<home_of_files>(*of_, send);
  else
    follower_ = std::make_unique<follower_of_home>(*of_, send);
}

void node_link::start() {
  const blocked_signals in_the_threads;
  thread_ = std::jthread([this] { work(); });
  begun_.get_future().wait();
  ringer_ = std::jthread([this](const std::stop_token& end) { ring(end); });
}

void node_link::ring(const std::stop_token& end) {
  std::int64_t seen_to_ns = now_ns();
  while (!end.stop_requested()) {
    const std::uint32_t seen = of_->news();
    signal_event_fd(bell_.get());
    const bool pending = of_->any_pending();
    futex_wait(of_->news(), seen, pending ? see_to_servers_ns : ring_again_ns, futex_users::several_processes);
    if (!pending || now_ns() - seen_to_ns < see_to_servers_ns) continue;
    (void)lost_servers_.write([&] { return end.stop_requested(); });
    seen_to_ns = now_ns();
  }
}

node_link::~node_link() {
  at_once_ = true;
  if (thread_.joinable()) finish();
}

void node_link::finish() {
  ends_ = true;
  signal_event_fd(bell_.get());
  thread_.join();
  ringer_.request_stop();
  ++of_->news();
  futex_wake(of_->news(), INT_MAX, futex_users::several_processes);
  ringer_.join();
}

void node_link::work() {
  const std::lock_guard lives(of_->linking());
  begun_.set_value();
  if (follower_) post_.send(home_node, packet().put(to_home::hello));
  for (int node = 1; home_ && node < of_->among_nodes().nodes; ++node) post_.send(node, packet().put(from_home::hello));
  bool said_farewell = false;
  for (;;) {
    while (post_.progress()) continue;
    if (at_once_) return;
    deliver();
    look();
    if (is_done()) {
      if (follower_ && !std::exchange(said_farewell, true)) post_.send(home_node, packet().put(to_home::farewell));
      if (!post_.sending()) return;
    }
    sleep();
  }
}

void node_link::packet_from(int peer, packet_reader text) {
  const auto bytes = text.rest();
  arrived_.emplace_back(peer, std::vector(bytes.begin(), bytes.end()));
}

void node_link::deliver() {
  for (; !arrived_.empty(); arrived_.pop_front()) try {
      const auto& [peer, bytes] = arrived_.front();
      if (home_)
        home_->take(peer, packet_reader(bytes));
      else if (peer == home_node)
        follower_->take(packet_reader(bytes));
    } catch (const error&) {  // not a message of Lull's
    }
  for (; !lost_.empty(); lost_.pop_front())
    if (home_)
      home_->lost(lost_.front());
    else if (lost_.front() == home_node)
      follower_->lost_home();
}

void node_link::look() {
  if (home_)
    home_->look();
  else
    follower_->look();
}

bool node_link::is_done() {
  // Those who find this thread gone while something is pending give the order up.
  if (!ends_ || of_->any_pending() || !other_servers_have_ended()) return false;
  return home_ ? home_->is_done() : follower_->is_idle();
}

bool node_link::other_servers_have_ended() const {
  for (int server = 0; server < static_cast<int>(of_->processes()); ++server)
    if (server != of_->server() && of_->serves(server) && !of_->is_away(server)) return false;
  return true;
}

void node_link::sleep() {
  if (!post_.arm()) return;
  std::array<pollfd, 2> wanted{pollfd{post_.event_fd(), POLLIN, 0}, pollfd{bell_.get(), POLLIN, 0}};
  (void)poll(wanted.data(), wanted.size(), ends_ ? look_again_ms : -1);
  clear_event_fd(bell_.get());
}

shared_output share_output(const plan& wanted, const roles& all, exchange& others, const storage_limit& storage) {
  if (!shares_files(wanted)) return {};
  shared_output made{directory::of_node(wanted.buffer_bytes, all, others), nullptr};
  const std::vector<int> links = ranks_of_links(nodes_by_rank(others), all);
  if (links.size() <= 1 || !made.of) return made;
  std::string problem;
  some_of among(others, links);
  if (std::ranges::find(links, others.rank()) != links.end()) try {
      made.link = std::make_unique<node_link>(made.of, among, storage);
      made.link->start();
    } catch (const std::exception& why) {
      problem = why.what();
      made.link.reset();
    }
  among.complete();
  if (all_could(others, problem, "the program writes by itself the files that processes of several nodes write"))
    return made;
  return {};
}

}  // namespace lull::stage
