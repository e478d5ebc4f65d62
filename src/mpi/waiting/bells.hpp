// The bells of a node: how a message through shared memory wakes a rank that sleeps.
//
// Each rank has one, in memory that all ranks of the job on this node map. A sleeper
//
//   announces itself         from here on, somebody() is not 0
//   looks for `long_enough_to_see`  at the library's progress, which finds what it waits for
//   sleeps                   until it is rung, or a time has passed; not at all if rung since the announcement
//   is awake again
//
// and a rank that has written a message to shared memory checks whether somebody() is announced, and then rings. There
// is no fence between the two, because it would cost a small message 4 % of its time. A sender's store becomes visible
// within some hundred nanoseconds (a store buffer of x86 drains by itself). So either the sender sees the announcement,
// or the sleeper sees the message while it looks. (membarrier() by the sleeper would be a proof, but it interrupts
// every rank that computes for each sleep of another, which is most expensive for the ranks for which the others wait.)
// On other architectures, a sender executes a fence. After the announcement, a ring changes the word on which the sleep
// depends, with locked instructions on both sides, so that it cannot fall between the two. Every sleep is bounded
// nevertheless; one that times out and then finds a message for which no rank rang counts as missed.
//
// A rank that also waits for descriptors sleeps in poll(), and a datagram rings it.
//
// The memory has a name only until all ranks of the node have mapped it. No rank may sleep until all have called
// will_ring(): complete().
//
// One thread of a process sleeps at a time. Any thread may ring.
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
  // `name` is the same in all ranks of the job on this node, and in no other process. Returns null, with errno, if the
  // memory is not available: all of it is allocated before it is used. `rank`: in MPI_COMM_WORLD.
  [[nodiscard]] static std::unique_ptr<node_bells> join(const std::string& name, int rank, int ranks_of_node);
  node_bells(const node_bells&) = delete;
  node_bells& operator=(const node_bells&) = delete;
  ~node_bells();

  [[nodiscard]] int ranks_of_node() const { return count_; }
  // Removes the name if a rank has not joined.
  void remove_name() noexcept;
  // From now on this rank rings others.
  void will_ring() noexcept;
  [[nodiscard]] int ranks_here() const;  // number of ranks that ring others
  // All ranks of the node ring others. Once true, always true.
  [[nodiscard]] bool complete() const;
  // More ranks on this node than cores on which they may run. Valid only when complete.
  [[nodiscard]] bool oversubscribed() const;

  // The word to check before ringing: 0 if no rank sleeps or is about to.
  [[nodiscard]] const std::uint32_t* somebody() const;
  void ring(int index) noexcept;
  void ring_me() noexcept { ring(mine_); }
  // Rings every other rank of the node, for a message whose receiver is not known. With `again`, does so only if another
  // rank has rung all since this one last did.
  void ring_others(bool again = false) noexcept;
  // Rings the ranks that may wait for fragments that this process returns.
  void ring_those_that_sent_to_me() noexcept;
  // The index of a rank's bell, or -1.
  [[nodiscard]] int index_of(int rank) const noexcept;
  // The owner of that bell will return a fragment to this process.
  void sent_to(int index) noexcept;

  // Returns false if another thread sleeps, or is about to. With `quietly`, other ranks do not ring this one: only the
  // time-out or a descriptor ends its sleep.
  [[nodiscard]] bool announce(bool quietly = false) noexcept;
  [[nodiscard]] bool rung() const noexcept;  // since announce()
  wait::wake sleep(std::int64_t timeout_ns) noexcept;
  // The same, also on descriptors; either wakes it. `fds` are only read.
  wait::wake sleep(std::span<const pollfd> fds, std::int64_t timeout_ns) noexcept;
  void awake() noexcept;
  // Awake by time-out, with a message for which no rank has rung yet: its sender may just have lost its core. This rank
  // stays announced until missed() finds that it was rung, or was not rung within `long_enough_to_ring_ns`. missed()
  // returns true once, does not wait, and may be called by any thread at any time.
  void awake_in_doubt() noexcept;
  [[nodiscard]] bool missed() noexcept;

  static constexpr std::int64_t long_enough_to_see_ns = 3'000;
  static constexpr std::int64_t long_enough_to_ring_ns = 500'000'000;  // a busy machine may take its core for long

  // This rank's area in the shared memory, and the number of ranks that have completed theirs; the last rank of the
  // node reads them all.
  static constexpr std::size_t bytes_of_report = std::size_t{128} * 1024;
  [[nodiscard]] std::span<std::byte> report_of(int index) const noexcept;
  [[nodiscard]] int mine() const { return mine_; }
  [[nodiscard]] bool last_to_report() noexcept;
  // True in the first call by any rank of the node: that rank prints what all of them find.
  [[nodiscard]] bool first_to_say() noexcept;

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
  // Used by the thread that has set sleeping_:
  std::uint32_t seen_ = 0, seen_in_doubt_ = 0;
  bool quiet_ = false;
  std::int64_t in_doubt_since_ns_ = 0;
  std::atomic<bool> in_doubt_{false};
  std::atomic<std::uint32_t> rung_by_me_{0};  // of the node's rounds
  descriptor socket_;
  std::atomic<int> ringing_socket_{-1};
  std::vector<pollfd> fds_;
};

}  // namespace lull::mpi
