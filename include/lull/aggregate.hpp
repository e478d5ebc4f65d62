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
//     words.into(values);                                  // a std::span: the k-th get fills values[k]
//     for (std::uint64_t i : indices) words.get(i % 1000, static_cast<int>(i / 1000));
//     words.done();
//
// Contract. Both are made and destroyed, and done() is called, by all PEs of the job together, between shmem_init() and
// shmem_finalize(). push() copies the item; some time before done() returns, the handler runs with it, exactly once, on
// the PE it was sent to. Handlers run inside push(), get(), advance() and done() of that PE, one at a time; a handler
// must not use the aggregator that called it. After done() a new phase may begin, whose items are handled only in calls
// made after done() has returned. Items from one PE to another arrive in the order of their pushes where the route has
// one hop. A route that nothing sets may change at the end of done(), which then gives its memory back and takes other
// (LULL_CHOOSE). Memory is bounded by LULL_AGGREGATE_MEMORY for each PE, most of it taken from the symmetric heap; a PE that
// finds buffers full handles what has arrived, and sleeps.
//
// A handler may also say how the same is done without aggregation: direct(item, pe), which must be atomic with respect
// to itself on other PEs (a gatherer's returns the value). Phases of so few items that aggregation would not pay are
// then done so; what pays is measured. What others do directly in the next phase may come as soon as done() has
// returned there, so look at results behind a barrier. A handler with finish() has it called at the end of each phase,
// before done() returns.
//
// Threads. In a program begun with shmem_init_thread(SHMEM_THREAD_MULTIPLE) each thread of a PE may push through a
// pusher of its own, auto mine = histogram.pusher(), into buffers that all of them share, or get through a getter.
// While these exist, nothing but pusher(), getter(), advance() and statistics() of the aggregator or gatherer itself
// may be called; all are destroyed before done(), which one thread calls. An item counts as pushed, and leaves, when
// its thread's chunk is full, at the thread's advance(), or with its pusher; what a thread has pushed for its own PE has
// been handled when its pusher is gone. Handlers still run one at a time, in whichever of these threads comes to it,
// unless the user says that they need not:
//   aggregate_options::concurrent_handlers   they may run in several threads of a PE at once
//   a handler with part(item), a number      those of items of different parts may, those of one part run one at a
//                                            time; it depends on the item alone, and is asked where the item is pushed
// Items of one thread for one PE, with parts those of one part, arrive in order where the route has one hop.
//
// Policies, all combinations of which work, by aggregate_options or settings: buffers per PE or per node; one, two or
// three hops; buffers sent when full, when idle (advance()), or at a deadline; compressed or not between nodes. Errors:
// std::bad_alloc when the symmetric heap is exhausted, std::invalid_argument for options that cannot be,
// std::length_error for an item of variable size that fits no buffer.
#pragma once
#include <shmem.h>
#include <lull/aggregate_items.hpp>

#include <atomic>
#include <concepts>
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
  std::size_t buffer_bytes = 0;                               // 0: LULL_AGGREGATE_BUFFER_BYTES
  std::size_t memory_bytes = 0;                               // 0: LULL_AGGREGATE_MEMORY
  bool getters = false;              // of a gatherer: threads will get through getters of their own
  bool concurrent_handlers = false;  // handlers of a PE may run in several of its threads at once
  long flush_us = -1;                // -1: LULL_AGGREGATE_FLUSH_US; 0: no deadline
  int compress = -1;                 // 0 or 1; -1: LULL_AGGREGATE_COMPRESS
  int direct = -1;                   // 0 or 1; -1: LULL_AGGREGATE_DIRECT
  long cache_bytes = -1;             // of a table_reader; 0: none; -1: LULL_AGGREGATE_CACHE
  std::size_t cache_line_bytes = 0;  // 8 to 1024; 0: LULL_AGGREGATE_CACHE_LINE
};

struct aggregate_statistics {
  std::uint64_t items = 0;           // pushed here
  std::uint64_t direct_items = 0;    // of these, done without aggregation
  std::uint64_t hops = 0;            // that items made in buffers from here, those passed on for others included
  std::uint64_t buffers = 0;         // sent from here
  std::uint64_t bytes = 0;           // sent from here, headers included
  std::uint64_t remote_buffers = 0;  // of these, to PEs of other nodes
  std::uint64_t remote_bytes = 0;
  double fill = 0;                  // mean share of a sent buffer that was used, 0 to 1
  std::uint64_t phases = 0;         // that are over
  std::uint64_t direct_phases = 0;  // of these, without aggregation
  std::uint64_t cache_hits = 0;     // gets answered by the cache, or together with an earlier one
  std::uint64_t cache_misses = 0;
  double cpu_ns_per_item = 0;    // CPU time of this PE's thread from a phase's first buffer to its end, per item
  double seconds_asleep = 0;     // of that
  std::size_t memory_bytes = 0;  // of buffers, pending requests and threads' chunks, on this PE
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

using apply_batch = void (*)(void* handler, const batch& items);
using offer_batch = std::size_t (*)(void* handler, const batch& items);
// `count` items of a thread for `pe`, each with a note in front: keeps the notes, and copies the items to `to`.
using take_notes = void (*)(void* handler, const std::byte* noted, std::size_t count, int pe, std::byte* to);

// The part that does not depend on the item's type: routes, buffers, termination. See src/aggregate/aggregation.hpp.
class aggregation;
struct history;
struct aggregation_request {
  std::size_t item_bytes;  // 0: any size
  apply_batch plain;       // for batches of items as they are
  apply_batch addressed;   // for items that begin with 4 bytes of address
  void* handler;
  const aggregate_options* options;
  aggregation* answers;  // what handlers push into, or null
  bool has_direct;
  // In place of both: how many it takes, of the first on (bytes where items have any size). It then never waits.
  offer_batch offer = nullptr;
  bool has_parts = false;  // the writers of threads know them
  // For items of this PE's own threads, in place of plain and addressed; null: the same.
  apply_batch plain_here = nullptr, addressed_here = nullptr;
  // Of each item that a thread pushes: it is taken off when the item leaves for another PE, of one after the other, in
  // the order in which that PE will handle them. Only for items of one size that are not passed on.
  std::size_t note_bytes = 0;
  take_notes notes = nullptr;
  // Whose buffers and hops leave the choice of a route; those of `options` are what it is now. Null: it is not to change.
  const aggregate_options* chosen_from = nullptr;
  history* past = nullptr;  // of the aggregation whose place this one takes; taken over unless an exception is thrown
};
LULL_API aggregation* open_aggregation(const aggregation_request& wanted);
LULL_API void close_aggregation(aggregation* a) noexcept;
// Between two phases: another route would be worth the change; the same on all PEs.
LULL_API bool wants_other_route(const aggregation* a) noexcept;
struct other_route {
  aggregate_options wanted, taken;  // `options` but for buffers and hops
};
LULL_API other_route other_route_of(const aggregation* a, const aggregate_options& options);
LULL_API history* close_for_another(aggregation* a) noexcept;  // what it has been, for the next
LULL_API void stays_as_it_is(history* past) noexcept;          // its route is not to change again
LULL_API void forget(history* past) noexcept;
LULL_API cursor* const* cursors_of(aggregation* a) noexcept;              // by PE
LULL_API bool is_addressed(const aggregation* a) noexcept;                // items begin with the number of their PE
LULL_API void turn_over(aggregation* a, int pe, std::size_t item_bytes);  // makes room; std::length_error
LULL_API void advance(aggregation* a);
LULL_API void finish(aggregation* a);                                // also of its answers
LULL_API std::uint64_t direct_items(const aggregation* a) noexcept;  // how many a phase may begin with; 0: none
LULL_API void leave_direct(aggregation* a);                          // this phase has become too large for that
LULL_API void finish_direct(aggregation* a, std::uint64_t items);    // a phase that began so
LULL_API aggregate_statistics statistics_of(const aggregation* a) noexcept;

// An aggregation as templates see it: made and destroyed with this, and written to.
class channels : public item_writer<aggregation> {
 public:
  explicit channels(const aggregation_request& wanted) : channels(open_aggregation(wanted)) {}
  ~channels() {
    if (aggregation_) close_aggregation(aggregation_);
    forget(past_);
  }
  channels(const channels&) = delete;
  channels& operator=(const channels&) = delete;

  [[nodiscard]] detail::aggregation* aggregation() const { return aggregation_; }

  // Between two phases, all PEs together; nothing else may be called between the two. After an exception it may be opened again.
  void close() {
    past_ = close_for_another(aggregation_);
    aggregation_ = nullptr;
  }
  void open(aggregation_request wanted) {
    wanted.past = past_;
    detail::aggregation* const made = open_aggregation(wanted);
    past_ = nullptr;
    aggregation_ = made;
    item_writer::operator=(item_writer(made, cursors_of(made), is_addressed(made)));
  }
  [[nodiscard]] bool is_open() const { return aggregation_ != nullptr; }
  void stay_as_before() { stays_as_it_is(past_); }

  // At the end of a phase: makes it anew by request(options), where another route is worth it.
  template <class Request>
  void keep_to_best_route(const aggregate_options& chosen_from, Request&& request) {
    if (!wants_other_route(aggregation_)) [[likely]]
      return;
    const other_route options = other_route_of(aggregation_, chosen_from);
    close();
    try {
      open(request(options.wanted));
    } catch (const std::bad_alloc&) {  // the program has filled the symmetric heap meanwhile
      stay_as_before();
      open(request(options.taken));
    }
  }

 private:
  explicit channels(detail::aggregation* made)
      : item_writer(made, cursors_of(made), is_addressed(made)), aggregation_(made) {}

  detail::aggregation* aggregation_;
  history* past_ = nullptr;  // between close() and open()
};

// Requests of threads: with whose they are and where the answer belongs, or with a note of the latter.
template <class Request>
struct __attribute__((packed)) tagged_request {
  std::uint32_t from, where;
  Request asked;
};
template <class Request>
struct __attribute__((packed)) noted_request {
  std::uint32_t where;
  Request asked;
};
// What threads push them into, and of which kind.
struct requests_of_threads {
  aggregation* to;
  bool noted;
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

namespace detail {

// A handler that says of each item to which part of its PE it belongs.
template <class Item, class Handler>
concept has_parts = requires(const Handler& h, const Item& item) {
  { h.part(item) } -> std::convertible_to<std::size_t>;
};

}  // namespace detail

// What one thread of a PE pushes through; see lull/pusher.hpp.
template <class Item, class Handler>
class pusher;
template <class Request>
class getter;

template <class Item, class Handler>
class aggregator {
  static_assert(std::is_trivially_copyable_v<Item>, "items travel as bytes");
  static constexpr bool has_direct = requires(Handler & h, const Item& item) { h.direct(item, 0); };
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

 public:
  aggregator(items_of<Item>, Handler handler, const aggregate_options& options = {})
      : handler_(std::move(handler)), options_(options), channels_(request(options_)) {
    begin_phase();
  }
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Hands `item` to the handler of `pe`, 0 ≤ pe < shmem_n_pes(). A store and a compare, unless a buffer is full.
  void push(const Item& item, int pe) {
    if constexpr (has_direct)
      if (direct_left_ != 0) [[unlikely]] {
        handler_.direct(item, pe);
        if (--direct_left_ == 0) detail::leave_direct(channels_.aggregation());
        return;
      }
    channels_.push(item, pe);
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
    channels_.template push_each<Item>(count - done, rest, [](std::size_t, int) {});
  }

  // For a thread of this PE.
  [[nodiscard]] lull::pusher<Item, Handler> pusher() {
    return lull::pusher<Item, Handler>(channels_.aggregation(), handler_);
  }

  // Handles what has arrived. When nothing has, or the deadline is over, also sends what is in buffers.
  void advance() { detail::advance(channels_.aggregation()); }

  // Returns when every item that this PE pushed, and every one for it, has been handled.
  void done() {
    if (began_direct_)
      detail::finish_direct(channels_.aggregation(), direct_limit_ - direct_left_);
    else
      detail::finish(channels_.aggregation());
    if constexpr (has_finish) handler_.finish();
    channels_.keep_to_best_route(options_, [this](const aggregate_options& by) { return request(by); });
    begin_phase();
  }

  [[nodiscard]] aggregate_statistics statistics() const { return detail::statistics_of(channels_.aggregation()); }
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  [[nodiscard]] detail::aggregation_request request(const aggregate_options& by) {
    return {.item_bytes = sizeof(Item),
            .plain = &apply<false>,
            .addressed = &apply<true>,
            .handler = this,
            .options = &by,
            .answers = nullptr,
            .has_direct = has_direct,
            .has_parts = detail::has_parts<Item, Handler>,
            .chosen_from = &options_};
  }
  void begin_phase() {
    if constexpr (has_direct) {
      direct_limit_ = direct_left_ = detail::direct_items(channels_.aggregation());
      began_direct_ = direct_limit_ != 0;
    }
  }

  template <bool Addressed>
  static void apply(void* self, const detail::batch& batch) {
    auto& me = *static_cast<aggregator*>(self);
    using codec = detail::item_codec<Addressed>;
    if constexpr (has_direct)
      if (me.began_direct_) [[unlikely]]
        return codec::template each<Item>(batch, [&](const Item& item) { me.handler_.direct(item, shmem_my_pe()); });
    codec::template each<Item>(batch, me.handler_);
  }

  Handler handler_;
  std::uint64_t direct_left_ = 0, direct_limit_ = 0;
  bool began_direct_ = false;
  aggregate_options options_;
  detail::channels channels_;
};

template <class Handler>
class aggregator<bytes_of_any_size, Handler> {
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

 public:
  aggregator(items_of<bytes_of_any_size>, Handler handler, const aggregate_options& options = {})
      : handler_(std::move(handler)), options_(options), channels_(request(options_)) {}
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Hands a copy of `item` to the handler of `pe`, as a std::span<const std::byte>; its alignment is not kept.
  void push(std::span<const std::byte> item, int pe) {
    channels_.push_bytes(item.size(), pe, [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  [[nodiscard]] lull::pusher<bytes_of_any_size, Handler> pusher();  // for a thread of this PE
  void advance() { detail::advance(channels_.aggregation()); }
  void done() {
    detail::finish(channels_.aggregation());
    if constexpr (has_finish) handler_.finish();
    channels_.keep_to_best_route(options_, [this](const aggregate_options& by) { return request(by); });
  }
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now = detail::statistics_of(channels_.aggregation());
    const std::uint64_t pushed = pushed_ + pushed_by_threads_.load(std::memory_order_relaxed);
    now.cpu_ns_per_item *= pushed == 0 ? 0 : static_cast<double>(now.items) / static_cast<double>(pushed);
    now.hops = now.items == 0 ? 0 : detail::scaled(now.hops, pushed, now.items);
    now.items = pushed;  // the buffers count bytes
    return now;
  }
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  [[nodiscard]] detail::aggregation_request request(const aggregate_options& by) {
    return {.item_bytes = 0,
            .plain = &apply<false>,
            .addressed = &apply<true>,
            .handler = &handler_,
            .options = &by,
            .answers = nullptr,
            .has_direct = false,
            .has_parts = detail::has_parts<std::span<const std::byte>, Handler>,
            .chosen_from = &options_};
  }
  template <bool Addressed>
  static void apply(void* handler, const detail::batch& batch) {
    detail::item_codec<Addressed>::each_of_any_size(batch, *static_cast<Handler*>(handler));
  }

  Handler handler_;
  aggregate_options options_;
  detail::channels channels_;
  std::uint64_t pushed_ = 0;
  std::atomic<std::uint64_t> pushed_by_threads_{0};
};

}  // namespace lull

#include <lull/gatherer.hpp>
#include <lull/pusher.hpp>
