// Completion of operations on other nodes. Each message that changes memory there has a number per target, which the
// target acknowledges. Gets and fetching atomics complete with their reply. An operation by RDMA (rdma.hpp) counts as a
// reply that is due until the target has all of it.
//
// A quiet takes the tickets() of a context, waits until reached(), then calls complete(). A quiet of some PEs takes only
// their tickets, and waits until these are reached and reply_due_by() none of them. A fence is a quiet if a message of
// the context may be overtaken, and nothing otherwise.
//
// Call with the lock of the protocol held, except where a comment says otherwise.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace lull::fabric {

// The operations of one context that may be outstanding.
class outstanding {
 public:
  outstanding() = default;
  outstanding(const outstanding&) = delete;
  outstanding& operator=(const outstanding&) = delete;

  // Unique over the life of the process: the memory of a context may be reused, its number is not.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool none() const { return !any_.load(std::memory_order_acquire); }  // without the lock
  // Whether a later message may overtake one of these. Without the lock.
  [[nodiscard]] bool overtakable() const { return overtakable_.load(std::memory_order_relaxed); }

 private:
  friend class completion;
  inline static std::atomic<std::uint64_t> numbers_{0};
  std::uint64_t number_ = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::vector<std::uint64_t> last_;            // by PE: the number of the last message to it; empty before the first
  std::vector<pe_id> touched_;                 // those that may not have acknowledged all messages
  std::atomic<std::uint64_t> replies_due_{0};  // of gets and fetches without a reply of the caller
  std::atomic<bool> any_{false};
  std::atomic<bool> overtakable_{false};
};

// Reached when `pe` has acknowledged all messages up to `number`.
struct ticket {
  pe_id pe;
  std::uint64_t number;
};

class completion {
 public:
  explicit completion(int pes) : peers_(static_cast<std::size_t>(pes)) {}

  void issue(outstanding& of, pe_id to, bool overtakable);  // counts the next message to `to`
  void share(outstanding& of, pe_id to) {                   // the last message to `to` belongs to this context too
    const auto index = static_cast<std::size_t>(to.index());
    const std::uint64_t number = peers_[index].issued.load(std::memory_order_relaxed);
    if (of.last_.empty() || of.last_[index] != number) [[unlikely]]
      share_number(of, to, number);
  }
  void expect_reply(outstanding& of, pe_id by);
  void expect_overtakable(outstanding& of, pe_id by);  // the same, for an operation that a later message may overtake
  void replied(outstanding& of, pe_id by);
  void acknowledged(pe_id by, std::uint32_t messages);

  void tickets(const outstanding& of, std::vector<ticket>& result) const;
  void add_ticket(const outstanding& of, pe_id pe, std::vector<ticket>& result) const;  // of this PE only
  // Removes the tickets that are reached. Without the lock.
  [[nodiscard]] bool reached(const outstanding& of, std::vector<ticket>& waiting) const {
    return acknowledged(waiting) && !reply_due(of);
  }
  [[nodiscard]] bool acknowledged(std::vector<ticket>& waiting) const;
  // Without the lock: whether a reply of this context is due; and of any context, by this PE.
  [[nodiscard]] static bool reply_due(const outstanding& of) {
    return of.replies_due_.load(std::memory_order_acquire) != 0;
  }
  [[nodiscard]] bool reply_due_by(pe_id pe) const {
    return peers_[static_cast<std::size_t>(pe.index())].replies_due.load(std::memory_order_acquire) != 0;
  }
  void complete(outstanding& of);  // removes what has been reached
  // Calls visit(PE, number of the last message) for each PE that may not have acknowledged all messages of the context.
  template <class Visit>
  void for_unacknowledged(const outstanding& of, Visit&& visit) const {
    for (const pe_id pe : of.touched_) visit(pe, of.last_[static_cast<std::size_t>(pe.index())]);
  }
  [[nodiscard]] std::uint64_t acknowledged_by(pe_id pe) const {
    return peers_[static_cast<std::size_t>(pe.index())].acknowledged.load(std::memory_order_acquire);
  }

  // Without the lock: whether every message is acknowledged and no reply is due; and the number of unacknowledged
  // messages to this PE.
  [[nodiscard]] bool all() const {
    return acknowledged_.load(std::memory_order_acquire) == issued_.load(std::memory_order_relaxed) &&
           replies_due_.load(std::memory_order_acquire) == 0;
  }
  [[nodiscard]] std::uint64_t unacknowledged(pe_id pe) const {
    const peer& other = peers_[static_cast<std::size_t>(pe.index())];
    return other.issued.load(std::memory_order_relaxed) - other.acknowledged.load(std::memory_order_acquire);
  }
  // The number of operations on this PE that it has neither acknowledged nor answered.
  [[nodiscard]] std::uint64_t under_way(pe_id pe) const {
    const peer& other = peers_[static_cast<std::size_t>(pe.index())];
    return unacknowledged(pe) + other.replies_due.load(std::memory_order_relaxed);
  }

 private:
  struct peer {
    std::atomic<std::uint64_t> issued{0};
    std::atomic<std::uint64_t> acknowledged{0};
    std::atomic<std::uint64_t> replies_due{0};
  };
  peer& at(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }
  std::uint64_t& last(outstanding& of, pe_id to) const;
  void share_number(outstanding& of, pe_id to, std::uint64_t number);

  std::vector<peer> peers_;
  std::atomic<std::uint64_t> issued_{0}, acknowledged_{0}, replies_due_{0};
};

}  // namespace lull::fabric
