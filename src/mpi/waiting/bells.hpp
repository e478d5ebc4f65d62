// The bells of a node: how a rank that sleeps is woken by a message through shared memory.
//
// Each rank has one, in memory that all ranks of the job on this node map. A sleeper
//
//   announces itself         somebody() is not 0 from here on
//   looks for `long_enough_to_see`  at what it waits for, at the library's progress
//   sleeps                   until rung, or a time has passed; not at all when it has been rung since it announced itself
//   is awake again
//
// and whoever has given a message to shared memory looks whether somebody() is announced, and rings then. Between the
// two is no fence: it would cost a small message 4 % of its time. What a sender has stored becomes visible some hundred
// nanoseconds later at most (a store buffer of x86 drains by itself); so either it sees the announcement, or the sleeper
// sees the message while it looks. (membarrier() by the sleeper would be a proof; it interrupts every rank that computes, for
// each sleep of another, which costs those most for whom the others wait.) Elsewhere a sender fences. From the announcement on, a ring changes the word that the sleep
// depends on, with a locked instruction on either side, so that it cannot fall between the two. A sleep is bounded
// nevertheless, and one that ends by its time and then finds a message nobody rang for is counted as missed.
//
// A rank that also waits for descriptors sleeps in poll() and is rung by a datagram.
//
// The memory has a name only until all ranks of the node have mapped it. While not all have said that they will_ring(),
// nobody may sleep: complete().
//
// One thread of a process sleeps at a time. Ringing is for any thread.
#pragma once
#include <poll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "wait/doorbell.hpp"

namespace lull::mpi {

class node_bells {
 public:
  // `name` is the same in all ranks of the job on this node, and in no other process. Null, with errno, when there is no
  // memory to be had: all of it is there before anybody uses it. `rank`: in MPI_COMM_WORLD.
  [[nodiscard]] static std::unique_ptr<node_bells> join(const std::string& name, int rank, int ranks_of_node);
  node_bells(const node_bells&) = delete;
  node_bells& operator=(const node_bells&) = delete;
  ~node_bells();

  [[nodiscard]] int ranks_of_node() const { return count_; }
  // Removes the name, where a rank that should be here is not.
  void remove_name() noexcept;
  // From now on this rank rings.
  void will_ring() noexcept;
  [[nodiscard]] int ranks_here() const;  // that ring
  // All ranks of the node ring. Once true, always.
  [[nodiscard]] bool complete() const;
  // More ranks on this node than cores that they may use. Only when complete.
  [[nodiscard]] bool oversubscribed() const;

  // The word to look at before ringing: 0 where nobody sleeps or is about to.
  [[nodiscard]] const std::uint32_t* somebody() const;
  void ring(int index) noexcept;
  void ring_me() noexcept { ring(mine_); }
  // Those who may wait for fragments that this process gives back.
  void ring_those_that_sent_to_me() noexcept;
  // The number of the rank's bell, or -1.
  [[nodiscard]] int index_of(int rank) const noexcept;
  // A fragment on its way to that bell's owner will come back to this process.
  void sent_to(int index) noexcept;

  // False: another thread sleeps, or is about to.
  [[nodiscard]] bool announce() noexcept;
  [[nodiscard]] bool rung() const noexcept;  // since announce()
  wait::wake sleep(std::int64_t timeout_ns) noexcept;
  // The same, on descriptors too; woken by either. `fds` are only read.
  wait::wake sleep(std::span<const pollfd> fds, std::int64_t timeout_ns) noexcept;
  void awake() noexcept;
  // Awake by the time, with a message there that nobody has rung for yet: its sender may just have lost its core. This
  // rank stays announced until missed() has found that it was rung, or was not in `long_enough_to_ring_ns`. It answers
  // true once, does not wait, and may be asked by any thread at any time.
  void awake_in_doubt() noexcept;
  [[nodiscard]] bool missed() noexcept;

  static constexpr std::int64_t long_enough_to_see_ns = 3'000;
  static constexpr std::int64_t long_enough_to_ring_ns = 20'000'000;

  // A place of this rank's own in the shared memory, and the number of those who are done with theirs: the last of the
  // node reads them all.
  static constexpr std::size_t bytes_of_report = std::size_t{128} * 1024;
  [[nodiscard]] std::span<std::byte> report_of(int index) const noexcept;
  [[nodiscard]] int mine() const { return mine_; }
  [[nodiscard]] bool last_to_report() noexcept;

 private:
  struct bell;
  struct shared;
  node_bells(shared* memory, std::size_t bytes, int mine, int count, std::string name);
  [[nodiscard]] bell& of(int index) const noexcept;
  [[nodiscard]] int datagrams() noexcept;
  void send_datagram(int index) noexcept;

  shared* memory_;
  std::size_t bytes_;
  int mine_;
  int count_;
  std::string name_;
  std::atomic<bool> sleeping_{false};
  // Of the thread that has set sleeping_:
  std::uint32_t seen_ = 0, seen_in_doubt_ = 0;
  std::int64_t in_doubt_since_ns_ = 0;
  std::atomic<bool> in_doubt_{false};
  descriptor socket_;
  std::atomic<int> ringing_socket_{-1};
  std::vector<pollfd> fds_;
};

}  // namespace lull::mpi
