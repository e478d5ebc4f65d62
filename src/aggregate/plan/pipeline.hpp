// The hops of a route in sequence, and the code that moves items through them.
//
// Items move in two places only. consume() handles arrivals, hop by hop; the sink of each hop but the last pushes items
// into the next hop. wait_for_room() is the only place where a thread waits for room: while it waits, it consumes that
// hop, all later ones, and the pipeline of the replies. None of these needs an earlier hop, so no cycle of full buffers
// can block.
//
// If `waits` is false, the program takes items when it chooses and the pipeline never waits: items that cannot be taken
// or passed on stay in their buffer, and the next call offers them again. One buffer of each channel is reserved for
// the end of the phase, so that the end needs no room either.
//
// Threads. A thread holds filling() while it fills and sends buffers, and releases it while it waits. The thread on
// duty() handles arrivals and is the one that sleeps until more arrive. Handlers therefore run one at a time, in the
// thread on duty. A thread that waits for room either is on duty, or waits for room or for duty, whichever comes first.
// Take duty before filling. Requests and replies share one duty.
//
// Where handlers may run in several threads at once, a thread that finds another on duty may call help(): it handles
// arrivals on those channels of the last hop that no other thread handles, so items of one PE stay in order.
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

// The first channel from here to a PE.
struct first_channel {
  cursor* at;
  std::uint32_t hop, channel;
  [[nodiscard]] bool fits(std::size_t bytes) const { return static_cast<std::size_t>(at->end - at->next) >= bytes; }
};

// Items with a tag in front, which `detach` removes when they leave.
struct tagged_items {
  detail::detach_tags detach;
  void* handler;
  std::size_t bytes;  // of an item with its tag
};

class pipeline final {
 public:
  // Collective. `last`: where items go after all hops. `replies`: the pipeline into which its handlers push, or null.
  pipeline(fabric::world& world, const plan& how, const item_format& items, const sink& last, bool waits,
           pipeline* replies);
  // From now on handlers may run in several threads at once. Handlers that push replies may do so only if the replies
  // take a single hop.
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
  // The largest item, without its length and address, that fits every channel, or this one.
  [[nodiscard]] std::size_t max_item_bytes() const { return max_item_bytes_; }
  [[nodiscard]] std::size_t max_item_bytes(const first_channel& way) const;
  void must_fit(const first_channel& way, std::size_t item_bytes) const;  // std::length_error

  // Makes room for an item of `bytes` bytes. If `waits`, there is room on return, unless an item passed on or another
  // thread used it up. Returns whether a buffer was sent, so that it is time to handle arrivals.
  bool make_room(const first_channel& way, std::size_t bytes);
  // Appends all items. Returns whether a buffer was sent.
  bool append(const first_channel& way, std::span<const std::byte> items);
  // The same for tagged items, on a channel that ends at `pe`.
  bool append(const first_channel& way, int pe, const tagged_items& how, std::span<const std::byte> items);
  [[nodiscard]] bool room(const first_channel& way) const;
  void flush();  // the replies too

  // Handles arrivals of this hop, of all later ones, and of the replies. Requires duty().
  bool consume(int from_hop = 0);  // returns whether there were any
  bool help();                     // without duty(); handles what other threads do not
  [[nodiscard]] bool anything_arrived(int from_hop = 0) const;
  // For a pipeline that never waits, after a call that did what it could: whether another call would do more.
  [[nodiscard]] bool could_do_more() const;

  // The end of a phase: each hop is closed when the one before it is over.
  [[nodiscard]] std::size_t hops() const { return hops_.size(); }
  [[nodiscard]] bool can_close(std::size_t hop) const { return waits_ || !hops_[hop]->holds_back(); }
  bool try_close(std::size_t hop, std::uint64_t pushed);  // false: it cannot be done now without waiting
  [[nodiscard]] bool over(std::size_t hop) const { return hops_[hop]->over(); }
  [[nodiscard]] std::uint64_t most_pushed(std::size_t hop) const { return hops_[hop]->most_pushed(); }
  void reopen();

  // Includes the exchange between threads in the counts, once it exists.
  void include(const thread_exchange* threads) { threads_ = threads; }
  [[nodiscard]] std::uint64_t pushed() const;  // items of this PE, since the beginning
  // Of these, the ones that are known to be for PEs of this node. Asked before items are passed on in a phase.
  [[nodiscard]] std::uint64_t pushed_within_node() const;
  [[nodiscard]] hop_counts counts() const;  // of all hops

 private:
  struct forwarder {  // the sink of a hop that is not the last
    pipeline* self;
    int next_hop;
    std::vector<first_channel> ways;     // by PE
    std::vector<first_channel> refused;  // without room since the last consume()
  };
  using filling_lock = std::unique_lock<policy_lock>;
  static std::size_t pass_on(void* forwarder, const batch& items);
  bool make_room(filling_lock& filling, const first_channel& way, std::size_t bytes);
  bool flush(filling_lock& filling, std::size_t hop);  // false: not everything could be sent without waiting
  // Waits until the channel has room, while everything from its hop on moves. Releases `filling` while it waits.
  void wait_for_room(filling_lock& filling, std::size_t hop, std::size_t channel);
  // Calls each(channel), which continues from a channel and returns the first that has no room, until all are done.
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
  std::vector<std::size_t> later_capacity_;  // by hop: the largest item that fits all channels after it
  std::vector<first_channel> ways_;
  std::vector<cursor*> cursors_;
  std::size_t max_item_bytes_ = 0;
  std::vector<std::uint64_t> passed_on_;  // items of others, since the beginning, by the hop that they went on to
  const thread_exchange* threads_ = nullptr;
};

}  // namespace lull::aggregate
