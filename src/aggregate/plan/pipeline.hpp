// The hops of a route, one behind the other, and what moves items through them.
//
// Items move in two places only. consume() handles what has arrived, hop by hop; the sink of each hop but the last
// pushes items into the next. wait_for_room() is the only place where a thread waits for room: while it waits, it
// consumes that hop, all later ones, and the pipeline of the replies. None of these needs an earlier hop, so no cycle
// of full buffers can block.
//
// A pipeline whose program takes items when it likes (`waits` is false) waits nowhere: items that cannot be taken or
// passed on stay in their buffer, and the next call offers them again. One buffer of each channel is reserved for the
// end of the phase, so that the end needs no room either.
//
// Threads. A thread holds filling() while it fills and sends buffers, and gives it up while it waits. The thread on
// duty() handles what has arrived, and is the one that sleeps for more. So handlers run one at a time, in the thread on
// duty, and a thread that waits for room either is on duty or waits for room or duty. Take duty before filling.
// Requests and replies share one duty.
//
// Where handlers may run in several threads at once, a thread that finds another on duty may help(): it handles arrivals
// on those channels of the last hop that no other thread handles, so items of one PE are still handled in order.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/hop.hpp"
#include "aggregate/plan/plan.hpp"
#include "aggregate/threads/policy_lock.hpp"
#include "aggregate/threads/thread_exchange.hpp"

namespace lull::aggregate {

// From here to a PE.
struct first_channel {
  cursor* at;
  std::uint32_t hop, channel;
  [[nodiscard]] bool fits(std::size_t bytes) const { return static_cast<std::size_t>(at->end - at->next) >= bytes; }
};

// Items with a tag in front, which `detach` takes off when they leave.
struct tagged_items {
  detail::detach_tags detach;
  void* handler;
  std::size_t bytes;  // of an item with its tag
};

class pipeline final {
 public:
  // Collective. `last`: where items go that have made all hops. `replies`: the pipeline into which its handlers push, or null.
  pipeline(fabric::world& world, const plan& how, const item_format& items, const sink& last, bool waits,
           pipeline* replies);
  // From now on handlers may run in several threads at once; those that push replies only where these are not passed on.
  void let_threads_help();
  ~pipeline();
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  [[nodiscard]] const item_format& items() const { return items_; }
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] policy_lock& duty() const { return *duty_; }
  [[nodiscard]] policy_lock& filling() const { return filling_; }

  [[nodiscard]] const std::vector<first_channel>& ways() const { return ways_; }  // by PE
  [[nodiscard]] cursor* const* cursors() const { return cursors_.data(); }        // the same, for templates
  // Of an item of any size, without its length and address: that goes every way, or this one.
  [[nodiscard]] std::size_t max_item_bytes() const { return max_item_bytes_; }
  [[nodiscard]] std::size_t max_item_bytes(const first_channel& way) const;
  void must_fit(const first_channel& way, std::size_t item_bytes) const;  // std::length_error

  // Makes room for an item of so many bytes. If waits(), there is room on return, unless an item passed on or another
  // thread used it up. Returns whether a buffer was sent, so that it is time to look at what has arrived.
  bool make_room(const first_channel& way, std::size_t bytes);
  bool append(const first_channel& way, std::span<const std::byte> items);  // all of them; whether a buffer was sent
  // The same, on a way that ends at `pe`.
  bool append(const first_channel& way, int pe, const tagged_items& how, std::span<const std::byte> items);
  [[nodiscard]] bool room(const first_channel& way) const;
  void flush();  // and the replies

  // Handles what has arrived for this hop and all later ones, and the replies. With duty().
  bool consume(int from_hop = 0);  // whether there was any
  bool help();                     // without it; handles what others do not
  [[nodiscard]] bool anything_arrived(int from_hop = 0) const;
  // Of a pipeline that waits nowhere, after a call that did what could be done: whether another would do more.
  [[nodiscard]] bool could_do_more() const;

  // The end of a phase: hop after hop is closed, each when the one before it is over.
  [[nodiscard]] std::size_t hops() const { return hops_.size(); }
  [[nodiscard]] bool can_close(std::size_t hop) const { return waits_ || !hops_[hop]->holds_back(); }
  bool try_close(std::size_t hop, std::uint64_t pushed);  // false: without waiting it cannot be done now
  [[nodiscard]] bool over(std::size_t hop) const { return hops_[hop]->over(); }
  [[nodiscard]] std::uint64_t most_pushed(std::size_t hop) const { return hops_[hop]->most_pushed(); }
  void reopen();

  // Also what goes from thread to thread, once that is there.
  void include(const thread_exchange* threads) { threads_ = threads; }
  [[nodiscard]] std::uint64_t pushed() const;  // items of this PE, since the beginning
  [[nodiscard]] hop_counts counts() const;     // of all hops

 private:
  struct forwarder {  // the sink of a hop that is not the last
    pipeline* self;
    int next_hop;
    std::vector<first_channel> ways;     // by PE
    std::vector<first_channel> refused;  // that had no room since the last consume()
  };
  using filling_lock = std::unique_lock<policy_lock>;
  static std::size_t pass_on(void* forwarder, const batch& items);
  bool make_room(filling_lock& filling, const first_channel& way, std::size_t bytes);
  bool flush(filling_lock& filling, std::size_t hop);  // false: without waiting, not all of it could be sent
  // Waits until the channel has room, while everything from its hop on moves. Gives up `filling` meanwhile.
  void wait_for_room(filling_lock& filling, std::size_t hop, std::size_t channel);
  // Calls each(channel), which goes on from a channel and returns the one that has no room, until it has done all.
  template <class Each>
  void for_channels(filling_lock& filling, std::size_t hop, Each&& each);
  [[nodiscard]] std::vector<first_channel> ways_from(const route& way, int hop);

  fabric::world& world_;
  item_format items_;
  bool waits_, may_help_ = false;
  pipeline* replies_;
  std::shared_ptr<policy_lock> duty_;
  mutable policy_lock filling_;
  std::vector<std::unique_ptr<forwarder>> forwarders_;
  std::vector<std::unique_ptr<hop>> hops_;
  std::vector<std::size_t> later_capacity_;  // by hop: the largest item that all channels after it take
  std::vector<first_channel> ways_;
  std::vector<cursor*> cursors_;
  std::size_t max_item_bytes_ = 0;
  std::uint64_t passed_on_ = 0;  // items of others, since the beginning
  const thread_exchange* threads_ = nullptr;
};

}  // namespace lull::aggregate
