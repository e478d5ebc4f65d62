// Dedicated nodes: the processes of some nodes write what those of all others hand over.
//
// A client describes what it hands over and announces the content. The server fetches it into memory without the
// client's program taking part, because a thread of the client serves the network. From then on the content survives
// its client.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/await.hpp"
#include "base/blocked_signals.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "job/layout.hpp"
#include "stage/approaches/approach.hpp"
#include "stage/files/messages.hpp"
#include "stage/link/descriptor_limit.hpp"
#include "stage/link/node_socket.hpp"
#include "stage/link/post.hpp"
#include "stage/link/receive_buffers.hpp"
#include "stage/writing/writer.hpp"

namespace lull::stage {
namespace {

std::vector<int> assign(int count, std::span<const std::string> nodes) {
  std::vector<std::string_view> in_order;  // of their first ranks
  for (const std::string& node : nodes)
    if (std::ranges::find(in_order, node) == in_order.end()) in_order.emplace_back(node);
  if (count >= static_cast<int>(in_order.size()))
    throw usage_error("set " + std::to_string(count) + " nodes aside for output",
                      "the job has only " + std::to_string(in_order.size()),
                      "start it on more nodes, or use dedicated-cores");
  const auto first_dedicated = in_order.end() - count;
  std::vector<int> clients, servers;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    (std::find(first_dedicated, in_order.end(), nodes[rank]) == in_order.end() ? clients : servers)
        .push_back(static_cast<int>(rank));
  std::vector<int> server_of(nodes.size());
  for (const int server : servers) server_of[static_cast<std::size_t>(server)] = server;
  const int of_clients = static_cast<int>(clients.size());
  const int blocks = std::min(of_clients, static_cast<int>(servers.size()));
  for (int position = 0; position < of_clients; ++position)
    server_of[static_cast<std::size_t>(clients[static_cast<std::size_t>(position)])] =
        servers[static_cast<std::size_t>(job::block_of(position, of_clients, blocks))];
  return server_of;
}

descriptor duplicate(int fd) { return descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

// Connects, so that the end of the connection is seen. A server sends the number of files that its clients may have
// outstanding.
packet hello(std::size_t most_outstanding = 0) {
  return packet().put(message::hello).put(std::uint64_t{most_outstanding});
}

// ---- client
// --------------------------------------------------------------------------------------------------------------

// The program may wait for the network's thread in a signal handler that has interrupted malloc(). This thread
// therefore frees no memory that the program's threads have allocated: it moves finished tasks and places to lists that
// those free.
class network_uplink final : public uplink, post_handler {
 public:
  network_uplink(int server, std::shared_ptr<progress> how_far, const plan& wanted, exchange& others)
      : server_(server),
        rank_(others.rank()),
        sync_(wanted.sync),
        how_far_(std::move(how_far)),
        keeper_(wanted.start_keeper ? wanted.start_keeper() : descriptor()),
        wake_(open_event_fd()),
        post_(*this, others) {
    if (!wake_) throw error("join the server of output", describe_errno(errno));
    {
      const blocked_signals in_the_thread;  // a handler of the program may wait for this thread
      thread_ = std::jthread([this, begin_thread = wanted.begin_thread](const std::stop_token& end) {
        if (begin_thread != nullptr) begin_thread();
        serve_network(end);
      });
    }
    try {
      (void)others.all({});  // all will say hello
    } catch (...) {
      stop();
      throw;
    }
    std::unique_lock lock(mutex_);
    await(news_, lock, [this] { return connected_ || gone_; });
  }
  ~network_uplink() override { stop(); }

  bool hand_over(std::uint64_t number, const staged_file& file, const std::string& mark) override {
    job::mapping content;
    try {
      if (file.bytes() > 0) content = job::mapping(file.descriptor(), file.bytes());
    } catch (const error&) {  // no room to map it
      return false;
    }
    {
      const std::scoped_lock lock(mutex_);
      if (file.place() != nullptr) whole_files_[number] = {&file, mark};
    }
    if (file.kept && !file.flushed) (void)flushed(*file.kept);  // from now on it is written in any case
    tell({file_message(message::file, number, file, mark), number, std::move(content), true});
    return true;
  }

  bool keep(std::uint64_t number, const staged_file& file, const std::string& mark) override {
    if (!keeper_) return false;
    const std::array passed{file.descriptor(), file.place()->file.get()};
    return say_to_keeper(file_message(message::keep, number, file, mark), passed);
  }
  bool flushed(std::uint64_t number) override { return say_to_keeper(kept_message(message::flushed, number)); }
  void release(std::uint64_t number) override { (void)say_to_keeper(kept_message(message::release, number)); }
  bool is_gone() const noexcept override { return gone_; }
  [[nodiscard]] std::size_t most_outstanding() const { return most_outstanding_; }  // known after the constructor

  void say(remark what, std::uint64_t after) override { tell({remark_message(what, after)}); }

  received receive(bool wait) override {
    std::unique_lock lock(mutex_);
    if (wait) await(news_, lock, [this] { return gone_ || !answers_.empty(); });
    if (answers_.empty()) return gone_ ? received{server_gone{}} : received{nothing_yet{}};
    answer next = std::move(answers_.front());
    answers_.pop_front();
    return next;
  }

  void leave(const client_figures& mine) override {
    tell({leave_message(mine)});
    std::unique_lock lock(mutex_);
    await(news_, lock, [this] { return gone_ || said_farewell_; });
  }

 private:
  struct task {
    packet text;
    std::uint64_t number = 0;
    job::mapping content = {};
    bool is_file = false;
  };
  struct whole_file {
    const staged_file* file;  // unchanged until its answer has been taken
    std::string mark;
  };

  void stop() {
    thread_.request_stop();
    signal_event_fd(wake_.get());
    thread_.join();
  }

  void tell(task what) {
    const std::scoped_lock lock(mutex_);
    done_tasks_.clear();
    done_files_.clear();
    tasks_.push_back(std::move(what));
    signal_event_fd(wake_.get());
  }

  void serve_network(const std::stop_token& end) {
    post_.send(server_, hello());
    while (!end.stop_requested()) {
      while (post_.progress()) continue;
      send_tasks();
      if (!post_.arm()) continue;
      std::array<pollfd, 2> wanted{pollfd{post_.event_fd(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
      (void)poll(wanted.data(), wanted.size(), -1);
      clear_event_fd(wake_.get());
    }
  }

  void send_tasks() {
    std::unique_lock lock(mutex_);
    while (!tasks_.empty()) {
      std::list<task> next;
      next.splice(next.begin(), tasks_, tasks_.begin());
      lock.unlock();
      send(next.front());
      lock.lock();
      done_tasks_.splice(done_tasks_.begin(), next);
    }
  }

  void send(task& what) {
    post_.send(server_, packet(what.text));
    if (!what.is_file) return;
    const std::size_t bytes = what.content.size();
    post_.send(server_, what.number, std::move(what.content), bytes);
  }

  void take(answer reply) {
    std::unique_lock lock(mutex_);
    if (auto known = whole_files_.extract(reply.number); !known.empty()) {
      const staged_file& file = *known.mapped().file;
      if (reply.what == answer::outcome::not_taken) {
        lock.unlock();
        reply = written_here(reply.number, known.mapped());
        lock.lock();
      }
      lift_mark(file.place()->file.get());
      if (file.kept) release(*file.kept);
      how_far_->end_whole(rank_, file.order, reply.what == answer::outcome::failed);
      done_files_.insert(std::move(known));
    }
    answers_.push_back(std::move(reply));
    news_.notify_all();
  }

  // The program may be blocked in a wait for another process, which waits for this file.
  [[nodiscard]] answer written_here(std::uint64_t number, const whole_file& of) const {
    try {
      fill_claim(of.file->descriptor(), *of.file->place(), {of.file->final_path(), false, of.mark}, sync_);
      return {number, answer::outcome::taken_back, {}};
    } catch (const error& why) {
      return {number, answer::outcome::failed, why.what()};
    }
  }

  void packet_from(int, packet_reader text) override {
    const auto what = text.take<message>();
    if (what == message::answer) take(take_answer(text));
    const std::scoped_lock lock(mutex_);
    if (what == message::hello) {
      most_outstanding_ = text.take<std::uint64_t>();
      connected_ = true;
    }
    said_farewell_ = said_farewell_ || what == message::farewell;
    news_.notify_all();
  }
  void content_from(int, std::uint64_t, const transport::incoming&) override {}  // a server sends no files
  void lost(int) override {
    const std::scoped_lock lock(mutex_);
    gone_ = true;
    how_far_->lose_server(rank_);
    news_.notify_all();
  }

  [[nodiscard]] bool say_to_keeper(const packet& text, std::span<const int> passed = {}) const {
    return keeper_ && send_message(keeper_, text.bytes(), passed, true) == transfer::done;
  }

  int server_, rank_;
  bool sync_;
  std::shared_ptr<progress> how_far_;
  descriptor keeper_;  // a socket; empty: nothing of this process survives it
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<answer> answers_;
  std::map<std::uint64_t, whole_file> whole_files_, done_files_;  // handed over; to be freed
  std::size_t most_outstanding_ = 1;
  bool connected_ = false, said_farewell_ = false;
  std::atomic<bool> gone_ = false;
  std::list<task> tasks_, done_tasks_;  // to be sent; to be freed
  descriptor wake_;
  post post_;  // used only by the thread while it runs
  std::jthread thread_;
};

joined join(const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node) {
  auto up = std::make_unique<network_uplink>(all.server_of(others.rank()), of_node, wanted, others);
  joined made{.most_outstanding = up->most_outstanding(), .how_far = of_node};
  made.up = std::move(up);
  (void)others.all({});  // both sides are connected: only from here on is the end of the other noticed
  return made;
}

// ---- server
// --------------------------------------------------------------------------------------------------------------

class network_server final : post_handler {
 public:
  network_server(const plan& wanted, const roles& all, exchange& others, const storage_limit& storage)
      : buffers_(wanted.buffer_bytes),
        writer_(wanted.sync, all.clients_of(others.rank()), storage),
        post_(*this, others) {
    for (const int client : all.clients_of(others.rank())) members_[client];
    (void)others.all({});  // all will say hello
    connect();
    (void)others.all({});  // both sides are connected
    others.one_more();
    (void)others.all({});  // all have joined
  }

  served run();

 private:
  // A file that is being received and then written.
  struct arriving final : transport::fetching {
    void fetched() override {
      there = true;
      owner->submit_in_order(client);
    }
    void lost() override { owner->lost(client); }
    network_server* owner = nullptr;
    int client = no_server;
    std::optional<write_order> order;
    receive_buffer memory;
    bool there = false;      // the content has arrived
    bool not_taken = false;  // there was no memory for it
  };
  struct member {
    std::uint64_t next = 0;  // number of the file to be submitted next
    std::map<std::uint64_t, arriving> files;
    std::deque<std::pair<std::uint64_t, remark>> remarks = {};  // each follows a number of files
    bool connected = false;
    bool ended = false;  // it has left or died
    bool died = false;
  };

  void packet_from(int from, packet_reader text) override;
  void content_from(int from, std::uint64_t number, const transport::incoming& content) override;
  void lost(int peer) override;
  arriving& file_of(int client, std::uint64_t number);
  void submit_in_order(int client);
  void submit(arriving& file);
  void answer_finished();
  void send_pending();
  void connect();
  void sleep();
  [[nodiscard]] bool done() const;

  receive_buffers buffers_;
  writer writer_;
  std::map<int, member> members_;               // by rank
  std::deque<std::pair<int, packet>> to_send_;  // messages that arose where nothing may be sent
  client_figures figures_;
  post post_;
};

served network_server::run() {
  for (;;) {
    while (post_.progress()) continue;
    answer_finished();
    send_pending();
    if (done()) break;
    sleep();
  }
  return {figures_, writer_.figures()};
}

// Returns when every client has sent its hello or died, and this server's own have left: what follows waits for the
// clients, and does not help the network.
void network_server::connect() {
  constexpr std::size_t descriptors = 4;  // of a file: two for content, one for its place, one for the file written
  const std::size_t most = most_outstanding_files(members_.size(), descriptors);
  for (const auto& [client, state] : members_) post_.send(client, hello(most));
  for (;;) {
    while (post_.progress()) continue;
    if (!post_.sending() &&
        std::ranges::all_of(members_, [](const auto& one) { return one.second.connected || one.second.ended; }))
      return;
    sleep();
  }
}

void network_server::sleep() {
  if (!post_.arm()) return;
  std::array<pollfd, 2> wanted{pollfd{post_.event_fd(), POLLIN, 0}, pollfd{writer_.event_fd(), POLLIN, 0}};
  if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) throw error("serve output", describe_errno(errno));
}

bool network_server::done() const {
  return std::ranges::all_of(members_, [](const auto& one) { return one.second.ended; }) && writer_.idle() &&
         to_send_.empty() && !post_.sending();
}

network_server::arriving& network_server::file_of(int client, std::uint64_t number) {
  arriving& file = members_.at(client).files[number];
  file.owner = this;
  file.client = client;
  return file;
}

void network_server::packet_from(int from, packet_reader text) {
  const auto known = members_.find(from);
  if (known == members_.end()) return;
  const auto what = text.take<message>();
  known->second.connected = true;
  if (what == message::file) {
    write_order order = take_order(text);
    const std::uint64_t number = order.number;
    order.client = from;
    file_of(from, number).order = std::move(order);
    submit_in_order(from);
  } else if (what == message::leave) {
    figures_ += take_figures(text);
    known->second.ended = true;
    writer_.heard(from, remark::ends);
    to_send_.emplace_back(from, packet().put(message::farewell));
  } else if (what == message::remark) {
    const auto said = text.take<remark>();
    known->second.remarks.emplace_back(text.take<std::uint64_t>(), said);
    submit_in_order(from);
  }
}

void network_server::content_from(int from, std::uint64_t number, const transport::incoming& content) {
  if (!members_.contains(from)) return;
  arriving& file = file_of(from, number);
  try {
    file.memory = buffers_.take(content.bytes);
  } catch (const error&) {
    file.not_taken = file.there = true;
    return submit_in_order(from);
  }
  if (content.announced) return post_.fetch(content, file.memory.memory.data(), file);
  if (content.bytes > 0) std::memcpy(file.memory.memory.data(), content.data, content.bytes);
  file.fetched();
}

void network_server::submit_in_order(int client) {
  member& from = members_.at(client);
  for (auto at = from.files.lower_bound(from.next); at != from.files.end(); ++at) {
    auto& [number, file] = *at;
    const bool whole = file.order && file.there;
    if (!from.died && (number != from.next || !whole)) break;
    from.next = number + 1;
    if (whole) submit(file);
  }
  for (; !from.remarks.empty() && from.remarks.front().first <= from.next; from.remarks.pop_front())
    writer_.heard(client, from.remarks.front().second, from.remarks.front().first);
}

// Opens the client's file if it still has its name. A shared storage gives it the same number on all nodes.
bool find_place(write_order& order) {
  if (order.what != form::whole) return true;
  descriptor found(open(order.where.path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat which {};
  if (!found || fstat(found.get(), &which) != 0 || which.st_ino != order.place.which.inode) return false;
  order.place.which.device = which.st_dev;
  order.place.file = std::move(found);
  return true;
}

void network_server::submit(arriving& file) {
  write_order order = std::move(*file.order);
  if (!file.not_taken && find_place(order)) order.content = duplicate(file.memory.file.get());
  if (order.content) return writer_.submit(std::move(order));
  to_send_.emplace_back(file.client, answer_message({order.number, answer::outcome::not_taken, {}}));
  buffers_.give_back(std::exchange(file.memory, {}));
}

// The client has died: files that have arrived completely are written, even after gaps.
void network_server::lost(int peer) {
  const auto known = members_.find(peer);
  if (known == members_.end() || known->second.ended) return;
  known->second.ended = known->second.died = true;
  submit_in_order(peer);
  writer_.heard(peer, remark::ends);
}

void network_server::answer_finished() {
  for (auto& [client, what, order, result] : writer_.finished()) {
    member& of = members_.at(client);
    const auto at = of.files.find(result.number);
    buffers_.give_back(std::move(at->second.memory));
    of.files.erase(at);
    if (!of.died) post_.send(client, answer_message(result));
  }
}

void network_server::send_pending() {
  for (; !to_send_.empty(); to_send_.pop_front())
    post_.send(to_send_.front().first, std::move(to_send_.front().second));
}

}  // namespace

const approach_row dedicated_nodes{
    .how = approach::dedicated_nodes,
    .assign = assign,
    .join = join,
    .serve = [](const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>&,
                const storage_limit& storage) { return network_server(wanted, all, others, storage).run(); }};

}  // namespace lull::stage
