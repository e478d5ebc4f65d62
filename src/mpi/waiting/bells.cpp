#include "mpi/waiting/bells.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/futex.hpp"
#include "base/pages.hpp"
#include "base/topology.hpp"

namespace lull::mpi {
namespace {

enum state : std::uint32_t { awake_now, announced, asleep, asleep_on_descriptors };

constexpr std::size_t cores_kept = 1024;

}  // namespace

struct node_bells::bell {
  alignas(64) std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> word;                 // changed by every ring
  std::atomic<std::int32_t> rank;                  // rank + 1; 0: unused
  alignas(64) std::atomic<std::uint64_t> sent_to;  // bit (index modulo 64): ranks that may return fragments to this one
  std::array<std::atomic<std::uint64_t>, cores_kept / 64> cores;  // on which this rank may run
};

struct node_bells::shared {
  alignas(64) std::atomic<std::uint32_t> somebody;  // number of announced ranks; in a separate cache line
  alignas(64) std::atomic<std::uint32_t> joined;
  std::atomic<std::uint32_t> ready;  // number of joined ranks that ring others
  std::atomic<std::uint32_t> reported;
  std::atomic<std::uint32_t> said;                // not 0: first_to_say() has returned true
  alignas(64) std::atomic<std::uint32_t> rounds;  // of ringing all
};

std::unique_ptr<node_bells> node_bells::join(const std::string& name, int rank, int ranks_of_node) {
  const auto count = static_cast<std::size_t>(ranks_of_node);
  const std::size_t bytes = round_up(sizeof(shared) + count * sizeof(bell), page_size()) + count * bytes_of_report;
  const descriptor file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return nullptr;
  int failed = 0;
  void* const at = map_pages(file.get(), bytes, failed);
  if (at == nullptr) {
    shm_unlink(name.c_str());
    errno = failed;
    return nullptr;
  }
  auto* const memory = static_cast<shared*>(at);  // a new file contains zeros, the initial value of all members
  const auto index = static_cast<int>(memory->joined.fetch_add(1));
  if (index == ranks_of_node - 1) shm_unlink(name.c_str());
  if (index >= ranks_of_node) {  // the file was left by another job
    shm_unlink(name.c_str());
    munmap(at, bytes);
    errno = EEXIST;
    return nullptr;
  }
  std::unique_ptr<node_bells> made(new node_bells(memory, bytes, index, ranks_of_node, name));
  bell& mine = made->of(index);
  for (const int core : allowed_cores())
    if (static_cast<std::size_t>(core) < cores_kept)
      mine.cores[static_cast<std::size_t>(core) / 64].fetch_or(std::uint64_t{1} << static_cast<unsigned>(core) % 64);
  mine.rank.store(rank + 1);
  return made;
}

node_bells::node_bells(shared* memory, std::size_t bytes, int mine, int count, std::string name)
    : memory_(memory), bytes_(bytes), mine_(mine), count_(count), name_(std::move(name)) {}

node_bells::~node_bells() {
  munmap(memory_, bytes_);
  if (ringing_socket_ >= 0) close(ringing_socket_);
}

node_bells::bell& node_bells::of(int index) const noexcept { return reinterpret_cast<bell*>(memory_ + 1)[index]; }

void node_bells::remove_name() noexcept {
  if (memory_->joined.load() < static_cast<std::uint32_t>(count_)) shm_unlink(name_.c_str());
}

bool node_bells::first_to_say() noexcept { return memory_->said.exchange(1) == 0; }

void node_bells::will_ring() noexcept { memory_->ready.fetch_add(1); }
int node_bells::ranks_here() const { return static_cast<int>(memory_->ready.load(std::memory_order_acquire)); }
bool node_bells::complete() const { return ranks_here() == count_; }

bool node_bells::oversubscribed() const {
  int cores = 0;
  for (std::size_t i = 0; i < cores_kept / 64; ++i) {
    std::uint64_t used = 0;
    // relaxed: complete() has read what every rank counted after it stored its cores
    for (int rank = 0; rank < count_; ++rank) used |= of(rank).cores[i].load(std::memory_order_relaxed);
    cores += __builtin_popcountll(used);
  }
  return count_ > cores;
}

const std::uint32_t* node_bells::somebody() const { return reinterpret_cast<const std::uint32_t*>(&memory_->somebody); }

int node_bells::index_of(int rank) const noexcept {
  for (int i = 0; i < count_; ++i)
    if (of(i).rank.load(std::memory_order_relaxed) == rank + 1) return i;  // relaxed: only the number itself is used
  return -1;
}

void node_bells::sent_to(int index) noexcept {
  std::atomic<std::uint64_t>& to = of(mine_).sent_to;
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(index) % 64;
  // relaxed: the message that follows publishes it to the rank that returns its fragment
  if ((to.load(std::memory_order_relaxed) & bit) == 0) to.fetch_or(bit, std::memory_order_relaxed);
}

void node_bells::ring(int index) noexcept {
  bell& whose = of(index);
  // relaxed: if it precedes the announcement, so does the message, which the sleeper sees while it looks (bells.hpp)
  if (whose.state.load(std::memory_order_relaxed) == awake_now) return;
  whose.word.fetch_add(1);  // prevents a sleep that is about to begin on the old value
  std::uint32_t found = whose.state.load();
  if (found != asleep && found != asleep_on_descriptors) return;
  if (!whose.state.compare_exchange_strong(found, announced)) return;  // another thread wakes it, or it is awake
  if (found == asleep)
    futex_wake(whose.word, 1, futex_users::several_processes);
  else
    send_datagram(index);
}

void node_bells::ring_those_that_sent_to_me() noexcept {
  const std::uint64_t me = std::uint64_t{1} << static_cast<unsigned>(mine_) % 64;
  // relaxed: `state` as in ring(); a sender sets its bit before the message that has arrived
  for (int i = 0; i < count_; ++i)
    if (i != mine_ && of(i).state.load(std::memory_order_relaxed) != awake_now &&
        (of(i).sent_to.load(std::memory_order_relaxed) & me) != 0)
      ring(i);
}

void node_bells::ring_others(bool again) noexcept {
  if (again) {
    // relaxed: the ring that woke this rank orders it after the count of the rank that rang
    const std::uint32_t round = memory_->rounds.load(std::memory_order_relaxed);
    if (rung_by_me_.exchange(round, std::memory_order_relaxed) == round) return;
  } else {
    rung_by_me_.store(memory_->rounds.fetch_add(1) + 1, std::memory_order_relaxed);
  }
  for (int i = 0; i < count_; ++i)
    if (i != mine_) ring(i);
}

bool node_bells::announce(bool quietly) noexcept {
  if (sleeping_.exchange(true)) return false;
  bell& mine = of(mine_);
  seen_ = mine.word.load();
  quiet_ = quietly && !in_doubt_.load(std::memory_order_relaxed);
  if (quiet_) return true;
  mine.state.store(announced);
  if (!in_doubt_.load(std::memory_order_relaxed)) memory_->somebody.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // before the sleeper checks what it waits for
  return true;
}

bool node_bells::rung() const noexcept { return of(mine_).word.load() != seen_; }

void node_bells::awake() noexcept {
  if (quiet_) {
    quiet_ = false;
    sleeping_.store(false);
    return;
  }
  if (!in_doubt_.load(std::memory_order_relaxed)) {
    of(mine_).state.store(awake_now, std::memory_order_release);
    memory_->somebody.fetch_sub(1);
  }
  sleeping_.store(false);
}

void node_bells::awake_in_doubt() noexcept {
  seen_in_doubt_ = seen_;
  in_doubt_since_ns_ = now_ns();
  in_doubt_.store(true);
  sleeping_.store(false);
}

bool node_bells::missed() noexcept {
  if (!in_doubt_.load(std::memory_order_relaxed) || sleeping_.exchange(true)) return false;
  if (!in_doubt_.load()) {  // another thread has just completed it
    sleeping_.store(false);
    return false;
  }
  const bool rang = of(mine_).word.load() != seen_in_doubt_;
  if (!rang && now_ns() - in_doubt_since_ns_ < long_enough_to_ring_ns) {
    sleeping_.store(false);
    return false;
  }
  in_doubt_.store(false);
  awake();
  return !rang;
}

wait::wake node_bells::sleep(std::int64_t timeout_ns) noexcept {
  bell& mine = of(mine_);
  if (quiet_)
    return futex_wait(mine.word, seen_, timeout_ns, futex_users::several_processes) ? wait::wake::rung
                                                                                    : wait::wake::timed_out;
  mine.state.store(asleep);  // a locked instruction: a later ring sees it and wakes; an earlier one has changed the
                             // word
  const bool timed_out = !futex_wait(mine.word, seen_, timeout_ns, futex_users::several_processes);
  mine.state.store(announced);  // until awake(), so its last looks count as those before a sleep
  return timed_out && !rung() ? wait::wake::timed_out : wait::wake::rung;
}

wait::wake node_bells::sleep(std::span<const pollfd> fds, std::int64_t timeout_ns) noexcept {
  bell& mine = of(mine_);
  const int bell_socket = datagrams();
  fds_.assign(fds.begin(), fds.end());
  fds_.push_back({.fd = bell_socket, .events = POLLIN, .revents = 0});  // poll ignores -1
  if (!quiet_) mine.state.store(asleep_on_descriptors);
  int ready = 1;
  if (!rung()) {
    const timespec timeout = timespec_of(timeout_ns);
    ready = static_cast<int>(syscall(SYS_ppoll, fds_.data(), fds_.size(), &timeout, nullptr, std::size_t{8}));
  }
  if (!quiet_) mine.state.store(announced);
  if (bell_socket >= 0 && fds_.back().revents != 0) {
    char byte = 0;
    while (recv(bell_socket, &byte, 1, MSG_DONTWAIT) >= 0) {
    }
  }
  return ready == 0 && !rung() ? wait::wake::timed_out : wait::wake::rung;
}

namespace {

// An abstract address: it has no file, and disappears with the process.
socklen_t address_of(const std::string& name, int index, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::string text = name + '.' + std::to_string(index);
  const std::size_t length = std::min(text.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, text.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

}  // namespace

int node_bells::datagrams() noexcept {
  if (socket_ || count_ == 1) return socket_.get();
  descriptor made(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = address_of(name_, mine_, address);
  if (made && bind(made.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) socket_ = std::move(made);
  return socket_.get();
}

void node_bells::send_datagram(int index) noexcept {
  int from = ringing_socket_.load();
  if (from < 0) {
    const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return;
    if (ringing_socket_.compare_exchange_strong(from, made))
      from = made;
    else
      close(made);
  }
  sockaddr_un address;
  const socklen_t length = address_of(name_, index, address);
  sendto(from, "", 1, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address), length);
}

std::span<std::byte> node_bells::report_of(int index) const noexcept {
  auto* const begin = reinterpret_cast<std::byte*>(memory_);
  const std::size_t behind = round_up(sizeof(shared) + static_cast<std::size_t>(count_) * sizeof(bell), page_size());
  return {begin + behind + static_cast<std::size_t>(index) * bytes_of_report, bytes_of_report};
}

bool node_bells::last_to_report() noexcept {
  return memory_->reported.fetch_add(1) + 1 == static_cast<std::uint32_t>(count_);
}

}  // namespace lull::mpi
