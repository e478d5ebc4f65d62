// Message aggregation: small items for other PEs, gathered into large transfers.
//
//     std::vector<std::uint64_t> bins(1000);
//     lull::aggregator histogram{lull::items<std::uint64_t>, [&](std::uint64_t bin) { ++bins[bin]; }};
//     for (std::uint64_t i : indices) histogram.push(i % 1000, static_cast<int>(i / 1000));
//     histogram.done();
//
// and small requests whose answers come back in the order in which they were asked:
//
//     lull::gatherer words{lull::items<std::uint64_t>, [&](std::uint64_t word) { return table[word]; }};
//     words.into(values);                                  // a std::span: the k-th pull fills values[k]
//     for (std::uint64_t i : indices) words.pull(i % 1000, static_cast<int>(i / 1000));
//     words.done();
//
// Contract. Both are made and destroyed, and done() is called, by all PEs of the job together, between shmem_init() and
// shmem_finalize(). push() copies the item; some time before done() returns, the handler runs with it, exactly once, on
// the PE it was sent to. Handlers run inside push(), pull(), advance() and done() of that PE, one at a time; a handler
// must not use the aggregator that called it. After done() a new round may begin, whose items are handled only in calls
// made after done() has returned. Items from one PE to another arrive in the order of their pushes where the route has
// one hop. Memory is bounded by LULL_AGGREGATE_MEMORY for each PE, most of it taken from the symmetric heap; who finds
// buffers full handles what has arrived, and sleeps.
//
// A handler may also say how the same is done without aggregation: direct(item, pe), which must be atomic with respect
// to itself on other PEs (a gatherer's returns the value). Rounds of so few items that aggregation would not pay are
// then done so; what pays is measured. What others do directly in the next round may come as soon as done() has
// returned there, so look at results behind a barrier. A handler with finish() has it called at the end of each round,
// before done() returns.
//
// Threads. In a program begun with shmem_init_thread(SHMEM_THREAD_MULTIPLE) each thread of a PE may push through a
// pusher of its own, auto mine = histogram.pusher(), into buffers that all of them share, or pull through a puller.
// While these exist, nothing but pusher(), puller(), advance() and statistics() of the aggregator or gatherer itself
// may be called; all are destroyed before done(), which one thread calls. Handlers still run one at a time, in
// whichever of these threads comes to it. An item counts as pushed, and leaves, when its thread's chunk of at most
// 1 KiB is full, at the thread's advance(), or with its pusher.
//
// Policies, all combinations of which work, by aggregate_options or settings: buffers per PE or per node; one, two or
// three hops; buffers sent when full, when idle (advance()), or at a deadline; compressed or not between nodes. Errors:
// std::bad_alloc when the symmetric heap is exhausted, std::invalid_argument for options that cannot be,
// std::length_error for an item of variable size that fits no buffer.
#pragma once
#include <shmem.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace lull {

enum class aggregate_buffers : std::uint8_t { by_setting, per_pe, per_node };

struct aggregate_options {
  aggregate_buffers buffers = aggregate_buffers::by_setting;  // LULL_AGGREGATE
  int hops = 0;                                               // 1 to 3; 0: LULL_AGGREGATE_HOPS
  std::size_t buffer_bytes = 0;                               // 0: LULL_AGGREGATE_SLOT
  std::size_t memory_bytes = 0;                               // 0: LULL_AGGREGATE_MEMORY
  bool pullers = false;                                       // of a gatherer: threads will pull, by pullers
  long flush_us = -1;                                         // -1: LULL_AGGREGATE_FLUSH_US; 0: no deadline
  int compress = -1;                                          // 0 or 1; -1: LULL_AGGREGATE_COMPRESS
  int bypass = -1;                                            // 0 or 1; -1: LULL_AGGREGATE_BYPASS
  long cache_bytes = -1;                                      // of a table_reader; 0: none; -1: LULL_AGGREGATE_CACHE
  std::size_t cache_line_bytes = 0;                           // 8 to 1024; 0: LULL_AGGREGATE_CACHE_LINE
};

struct aggregate_statistics {
  std::uint64_t items = 0;           // pushed here
  std::uint64_t direct_items = 0;    // of these, done without aggregation
  std::uint64_t hops = 0;            // that items made in buffers leaving here, those passed on for others included
  std::uint64_t buffers = 0;         // sent from here
  std::uint64_t bytes = 0;           // sent from here, headers included
  std::uint64_t remote_buffers = 0;  // of these, to PEs of other nodes
  std::uint64_t remote_bytes = 0;
  double fill = 0;                  // mean share of a sent buffer that was used, 0 to 1
  std::uint64_t rounds = 0;         // that are over
  std::uint64_t direct_rounds = 0;  // of these, without aggregation
  std::uint64_t cache_hits = 0;     // pulls answered by the cache, or together with an earlier one
  std::uint64_t cache_misses = 0;
  double cpu_ns_per_item = 0;    // CPU time of this PE's thread from a round's first buffer to its end, per item
  double seconds_asleep = 0;     // of that
  std::size_t memory_bytes = 0;  // of buffers, places of values and threads' chunks, on this PE
  int route_hops = 0;            // what was chosen
  bool per_node = false;
  std::size_t buffer_bytes = 0;  // to other nodes; to PEs of this one where there are no others
};

namespace detail {

// value * by / of, rounded down; exact, for the product has 128 bits. Statistics of items of any size need it: bytes
// times items is soon more than 64 bits hold.
constexpr std::uint64_t scaled(std::uint64_t value, std::uint64_t by, std::uint64_t of) {
  __extension__ using product = unsigned __int128;
  return static_cast<std::uint64_t>(product{value} * by / of);
}

// Where the next item is written. Kept small and together: push() touches little else.
struct cursor {
  std::byte* next = nullptr;
  std::byte* end = nullptr;  // next == end: the buffer is full (or there is none yet)
};

struct batch {
  const std::byte* items;
  std::size_t count;  // of items; bytes where items have any size
  int from;           // the PE whose lane they came by
};
using apply_batch = void (*)(void* handler, const batch& items);
using offer_batch = std::size_t (*)(void* handler, const batch& items);

// The part that does not depend on the item's type: routes, buffers, termination. See src/aggregate/channel.hpp.
class channel;
struct channel_request {
  std::size_t item_bytes;  // 0: any size
  apply_batch plain;       // for batches of items as they are
  apply_batch addressed;   // for items that begin with 4 bytes of address
  void* handler;
  const aggregate_options* options;
  channel* answers;  // a channel that handlers push into, or null
  bool has_direct;
  // In place of both: how many it takes, of the first on (bytes where items have any size). Such a channel never waits.
  offer_batch offer = nullptr;
};
LULL_API channel* open_channel(const channel_request& wanted);
LULL_API void close_channel(channel* c) noexcept;
LULL_API cursor* const* cursors_of(channel* c) noexcept;              // by PE
LULL_API bool is_addressed(const channel* c) noexcept;                // items begin with the number of their PE
LULL_API void turn_over(channel* c, int pe, std::size_t item_bytes);  // makes room; std::length_error
LULL_API void advance(channel* c);
LULL_API void finish(channel* c);                                // also of its answers
LULL_API std::uint64_t direct_items(const channel* c) noexcept;  // how many a round may begin with; 0: none
LULL_API void leave_direct(channel* c);                          // this round has become too large for that
LULL_API void finish_direct(channel* c, std::uint64_t items);    // a round that began so
LULL_API aggregate_statistics statistics_of(const channel* c) noexcept;

constexpr std::size_t address_bytes = sizeof(std::uint32_t);

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof value);
  return value;
}
template <class T>
void write(std::byte* to, const T& value) {
  std::memcpy(to, static_cast<const void*>(&value), sizeof value);
}

// One side of a channel, as templates see it. Of its two ways to push only that of the channel's items may be used.
class lanes {
 public:
  explicit lanes(const channel_request& wanted)
      : channel_(open_channel(wanted)), cursors_(cursors_of(channel_)), addressed_(is_addressed(channel_)) {}
  ~lanes() { close_channel(channel_); }
  lanes(const lanes&) = delete;
  lanes& operator=(const lanes&) = delete;

  [[nodiscard]] detail::channel* channel() const { return channel_; }
  [[nodiscard]] bool addressed() const { return addressed_; }

  template <class Item>
  void push(const Item& item, int pe) {
    if (addressed_)
      push_as<true>(item, pe);
    else
      push_as<false>(item, pe);
  }
  template <bool Addressed, class Item>
  void push_as(const Item& item, int pe) {
    constexpr std::size_t head = Addressed ? address_bytes : 0;
    cursor& at = *cursors_[pe];
    if (at.next == at.end) [[unlikely]]
      turn_over(channel_, pe, sizeof(Item));
    std::byte* const to = at.next;
    at.next = to + head + sizeof(Item);
    if constexpr (Addressed) write(to, static_cast<std::uint32_t>(pe));
    write(to + head, item);
  }

  // make(i), 0 ≤ i < count, gives an item and its PE. What a push looks up each time, for it may have been overwritten
  // by the last one for all the compiler knows, is looked up once. pushed(i, pe) is told each.
  template <class Item, class Make, class Pushed>
  void push_each(std::size_t count, Make& make, Pushed&& pushed) {
    if (addressed_)
      push_each_as<true, Item>(count, make, pushed);
    else
      push_each_as<false, Item>(count, make, pushed);
  }

  // make(i), 0 ≤ i < count, gives an item for `pe`; lanes of items without address.
  template <class Item, class Make>
  void push_run(std::size_t count, int pe, Make&& make) {
    cursor& at = *cursors_[pe];
    for (std::size_t i = 0; i < count;) {
      if (at.next == at.end) turn_over(channel_, pe, sizeof(Item));
      std::byte* to = at.next;
      const std::size_t room = static_cast<std::size_t>(at.end - to) / sizeof(Item);
      const std::size_t last = i + (room < count - i ? room : count - i);
      for (; i < last; ++i, to += sizeof(Item)) write<Item>(to, make(i));
      at.next = to;
    }
  }

  // An item of `size` bytes, which fill(to) writes.
  template <class Fill>
  void push_bytes(std::size_t size, int pe, Fill&& fill) {
    const std::size_t head = sizeof(std::uint32_t) + (addressed_ ? address_bytes : 0);
    cursor& at = *cursors_[pe];
    if (static_cast<std::size_t>(at.end - at.next) < head + size) [[unlikely]]
      turn_over(channel_, pe, head + size);
    std::byte* to = at.next;
    if (addressed_) {
      write(to, static_cast<std::uint32_t>(pe));
      to += address_bytes;
    }
    write(to, static_cast<std::uint32_t>(size));
    fill(to + sizeof(std::uint32_t));
    at.next += head + size;
  }

 private:
  template <bool Addressed, class Item, class Make, class Pushed>
  void push_each_as(std::size_t count, Make& make, Pushed& pushed) {
    constexpr std::size_t head = Addressed ? address_bytes : 0;
    cursor* const* const cursors = cursors_;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [item, number] = make(i);
      const auto pe = static_cast<int>(number);
      cursor& at = *cursors[pe];
      if (at.next == at.end) [[unlikely]]
        turn_over(channel_, pe, sizeof(Item));
      std::byte* const to = at.next;
      at.next = to + head + sizeof(Item);
      if constexpr (Addressed) write(to, static_cast<std::uint32_t>(pe));
      write<Item>(to + head, item);
      pushed(i, pe);
    }
  }

  detail::channel* channel_;
  cursor* const* cursors_;
  bool addressed_;
};

// A request that says whose it is, and where its answer belongs there.
template <class Request>
struct __attribute__((packed)) tagged_request {
  std::uint32_t from, where;
  Request asked;
};

}  // namespace detail

// Names the item type where the handler's type is deduced.
template <class Item>
struct items_of {};
template <class Item>
inline constexpr items_of<Item> items{};

// Items of any size up to a buffer's.
struct bytes_of_any_size {};
inline constexpr items_of<bytes_of_any_size> bytes{};

// What one thread of a PE pushes through; see lull/pusher.hpp.
template <class Item>
class pusher;
template <class Request>
class puller;

template <class Item, class Handler>
class aggregator {
  static_assert(std::is_trivially_copyable_v<Item>, "items travel as bytes");
  static constexpr bool has_direct = requires(Handler & h, const Item& item) { h.direct(item, 0); };
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

 public:
  aggregator(items_of<Item>, Handler handler, const aggregate_options& options = {})
      : handler_(std::move(handler)),
        lanes_({sizeof(Item), &apply<false>, &apply<true>, this, &options, nullptr, has_direct}) {
    begin_round();
  }
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Hands `item` to the handler of `pe`, 0 ≤ pe < shmem_n_pes(). A store and a compare, unless a buffer is full.
  void push(const Item& item, int pe) {
    if constexpr (has_direct)
      if (direct_left_ != 0) [[unlikely]] {
        handler_.direct(item, pe);
        if (--direct_left_ == 0) detail::leave_direct(lanes_.channel());
        return;
      }
    lanes_.push(item, pe);
  }

  // The same for `count` items: make(i), 0 ≤ i < count, is called once for each, in order, and returns something that
  // decomposes into an item and its PE.
  template <class Make>
  void push_each(std::size_t count, Make&& make) {
    std::size_t done = 0;
    if constexpr (has_direct)
      for (; done < count && direct_left_ != 0; ++done) {
        const auto& [item, pe] = make(done);
        push(item, static_cast<int>(pe));
      }
    const auto rest = [&](std::size_t i) -> decltype(auto) { return make(done + i); };
    lanes_.template push_each<Item>(count - done, rest, [](std::size_t, int) {});
  }

  // For a thread of this PE.
  [[nodiscard]] lull::pusher<Item> pusher() { return lull::pusher<Item>(lanes_.channel()); }

  // Handles what has arrived. When nothing has, or the deadline is over, also sends what stands in buffers.
  void advance() { detail::advance(lanes_.channel()); }

  // Returns when every item that this PE pushed, and every one for it, has been handled.
  void done() {
    if (began_direct_)
      detail::finish_direct(lanes_.channel(), direct_limit_ - direct_left_);
    else
      detail::finish(lanes_.channel());
    if constexpr (has_finish) handler_.finish();
    begin_round();
  }

  [[nodiscard]] aggregate_statistics statistics() const { return detail::statistics_of(lanes_.channel()); }
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  void begin_round() {
    if constexpr (has_direct) {
      direct_limit_ = direct_left_ = detail::direct_items(lanes_.channel());
      began_direct_ = direct_limit_ != 0;
    }
  }

  template <bool Addressed>
  static void apply(void* self, const detail::batch& batch) {
    auto& me = *static_cast<aggregator*>(self);
    constexpr std::size_t head = Addressed ? detail::address_bytes : 0;
    const std::byte* item = batch.items + head;
    if constexpr (has_direct)
      if (me.began_direct_) [[unlikely]] {
        for (std::size_t i = 0; i < batch.count; ++i, item += head + sizeof(Item))
          me.handler_.direct(detail::read<Item>(item), shmem_my_pe());
        return;
      }
    auto& handle = me.handler_;
    for (std::size_t i = 0; i < batch.count; ++i, item += head + sizeof(Item)) handle(detail::read<Item>(item));
  }

  Handler handler_;
  std::uint64_t direct_left_ = 0, direct_limit_ = 0;
  bool began_direct_ = false;
  detail::lanes lanes_;
};

template <class Handler>
class aggregator<bytes_of_any_size, Handler> {
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

 public:
  aggregator(items_of<bytes_of_any_size>, Handler handler, const aggregate_options& options = {})
      : handler_(std::move(handler)), lanes_({0, &apply<false>, &apply<true>, &handler_, &options, nullptr, false}) {}
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Hands a copy of `item` to the handler of `pe`, as a std::span<const std::byte>; its alignment is not kept.
  void push(std::span<const std::byte> item, int pe) {
    lanes_.push_bytes(item.size(), pe, [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  [[nodiscard]] lull::pusher<bytes_of_any_size> pusher();  // for a thread of this PE
  void advance() { detail::advance(lanes_.channel()); }
  void done() {
    detail::finish(lanes_.channel());
    if constexpr (has_finish) handler_.finish();
  }
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now = detail::statistics_of(lanes_.channel());
    const std::uint64_t pushed = pushed_ + pushed_by_threads_.load(std::memory_order_relaxed);
    now.cpu_ns_per_item *= pushed == 0 ? 0 : static_cast<double>(now.items) / static_cast<double>(pushed);
    now.hops = now.items == 0 ? 0 : detail::scaled(now.hops, pushed, now.items);
    now.items = pushed;  // the buffers count bytes
    return now;
  }
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  template <bool Addressed>
  static void apply(void* handler, const detail::batch& batch) {
    auto& handle = *static_cast<Handler*>(handler);
    const std::byte* const end = batch.items + batch.count;
    for (const std::byte* at = batch.items; at != end;) {
      if constexpr (Addressed) at += detail::address_bytes;
      const auto size = detail::read<std::uint32_t>(at);
      at += sizeof size;
      handle(std::span<const std::byte>(at, size));
      at += size;
    }
  }

  Handler handler_;
  detail::lanes lanes_;
  std::uint64_t pushed_ = 0;
  std::atomic<std::uint64_t> pushed_by_threads_{0};
};

}  // namespace lull

#include <lull/gatherer.hpp>
#include <lull/pusher.hpp>
