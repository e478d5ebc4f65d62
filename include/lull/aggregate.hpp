// Message aggregation: small items for other PEs travel in large buffers. Link with lull-shmem.
//
//     std::vector<std::uint64_t> bins(1000);
//     lull::aggregator histogram{lull::items_of<std::uint64_t>{}, [&](std::uint64_t bin) { ++bins[bin]; }};
//     for (std::uint64_t i : indices) histogram.push(i % 1000, static_cast<int>(i / 1000));
//     histogram.done();
//
// Requests that return values: <lull/gatherer.hpp>. Several threads of a PE: <lull/pusher.hpp>. Both are included here.
//
// Collective calls. All PEs of the job call the constructor, done() and the destructor together, between shmem_init()
// and shmem_finalize(). A phase ends with done(); the next one begins there.
//
// Delivery. push() copies the item. The handler runs with it exactly once, on the PE it was sent to, before done()
// returns there and on the PE that pushed it. Items from one PE to another arrive in the order of their pushes if the
// route has one hop; longer routes keep no order. Items of the next phase are handled only in calls made after done()
// returned.
//
// Handlers run inside push(), advance() and done() of their PE, one at a time. A handler must not use the aggregator
// that called it. It may have further members:
//   direct(item, pe)  does the same without aggregation; must be atomic with respect to direct() on other PEs. A phase
//                     with so few items that aggregation would cost more than it saves (this is measured) uses it. The
//                     direct operations of a next phase may begin on another PE as soon as done() has returned there:
//                     read results only behind a barrier.
//   finish()          is called at the end of each phase, before done() returns.
//   part(item)        a number that depends on the item alone. In programs with pushers, handlers of items of different
//                     parts may run at once; those of one part run one at a time.
//
// Memory. Buffers take at most LULL_AGGREGATE_MEMORY on each PE, most of it in the symmetric heap. A push() that finds
// no room handles what has arrived, and sleeps as LULL_WAIT says until there is room.
//
// Route. Options or settings choose buffers per PE or per node and one, two or three hops; what they leave open is
// chosen by predicted cost, and may change at the end of done(), which then replaces the buffers (LULL_CHOOSE).
//
// Errors: std::bad_alloc if the symmetric heap is exhausted; std::invalid_argument for impossible options;
// std::length_error for an item of variable size that fits into no buffer. A program compiled with headers whose
// interface differs from the library's is ended with one line (lull/detail/cpp_abi.hpp).
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/aggregation.hpp>
#include <lull/gatherer.hpp>
#include <lull/pusher.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lull {
inline namespace cpp_abi_1 {

// Item is trivially copyable, or byte_span for items of any size. Handler is called with a const Item&.
template <class Item, class Handler>
class aggregator : detail::same_cpp_abi {
 public:
  // Collective.
  aggregator(items_of<Item>, Handler handler, const aggregate_options& options = {});
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Sends `item` to the handler of `pe`, 0 ≤ pe < shmem_n_pes(). Costs a store and a compare unless a buffer is full.
  void push(const Item& item, int pe);

  // push() for make(0) to make(count - 1), each called once and in order; faster than single pushes. make(i) returns
  // something that decomposes into an item and its PE, a std::pair for instance.
  template <class Make>
  void push_each(std::size_t count, Make&& make);

  // For one of several threads of this PE. std::logic_error in a program without SHMEM_THREAD_MULTIPLE.
  [[nodiscard]] lull::pusher<Item, Handler> pusher();

  // Handles what has arrived. If nothing has, or the deadline has passed, sends buffers that are not full.
  void advance();

  // Collective: returns when every item that this PE pushed, and every item for this PE, has been handled.
  void done();

  [[nodiscard]] aggregate_statistics statistics() const;
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  static_assert(std::is_trivially_copyable_v<Item>, "items must be trivially copyable, since they travel as bytes");
  static constexpr bool has_direct = requires(Handler & h, const Item& item) { h.direct(item, 0); };
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

  [[nodiscard]] detail::aggregation_request request(const aggregate_options& options);
  void begin_phase();
  template <bool Addressed>
  static void apply(void* self, const detail::batch& items);

  Handler handler_;
  detail::direct_items direct_;
  aggregate_options options_;
  detail::channels channels_;
};

}  // namespace cpp_abi_1
}  // namespace lull

#include <lull/detail/aggregator.hpp>
