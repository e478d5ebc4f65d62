// Message aggregation: small items for other PEs, gathered into large transfers.
//
//     std::vector<std::uint64_t> bins(1000);
//     lull::aggregator histogram{lull::items<std::uint64_t>, [&](std::uint64_t bin) { ++bins[bin]; }};
//     for (std::uint64_t i : indices) histogram.push(i % 1000, static_cast<int>(i / 1000));
//     histogram.done();
//
// Contract. An aggregator is made and destroyed, and done() is called, by all PEs of the job together, between
// shmem_init() and shmem_finalize(). push() copies the item; some time before done() returns, the handler runs with it,
// exactly once, on the PE it was sent to. Handlers run inside push() and done() of that PE, on its thread, one at a
// time; a handler must not push. After done() the aggregator may be used again, and items of the next round are handled
// only in calls made after done() has returned. Items from one PE to another arrive in the order of their pushes.
// Memory is LULL_AGGREGATE_SLOT × LULL_AGGREGATE_SLOTS bytes for each PE, taken from the symmetric heap.
//
// Policies: one buffer per PE ("per-pe") and one hop. Errors: std::bad_alloc when the symmetric heap is exhausted.
#pragma once
#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace lull {

struct aggregate_statistics {
  std::uint64_t items = 0;           // pushed here
  std::uint64_t buffers = 0;         // sent from here
  std::uint64_t bytes = 0;           // sent from here, headers included
  std::uint64_t remote_buffers = 0;  // of these, to PEs of other nodes
};

namespace detail {

// Where push() writes next for one PE. Kept small and together: push() touches nothing else.
struct cursor {
  std::byte* next = nullptr;
  std::byte* end = nullptr;  // next == end: the buffer is full (or there is none yet)
};

// The part that does not depend on the item's type: buffers, transfers, termination. See src/aggregate/rings.hpp.
class rings;
using apply_batch = void (*)(void* handler, const std::byte* items, std::size_t count);

LULL_API rings* make_rings(std::size_t item_bytes, apply_batch apply, void* handler);
LULL_API void delete_rings(rings* r) noexcept;
LULL_API cursor* cursors_of(rings* r) noexcept;  // one per PE
LULL_API void turn_over(rings* r, int pe);       // sends the buffer of `pe` and provides an empty one
LULL_API void finish(rings* r);
LULL_API aggregate_statistics statistics_of(const rings* r) noexcept;

}  // namespace detail

// Names the item type where the handler's type is deduced.
template <class Item>
struct items_of {};
template <class Item>
inline constexpr items_of<Item> items{};

template <class Item, class Handler>
class aggregator {
  static_assert(std::is_trivially_copyable_v<Item>, "items travel as bytes");
  static_assert(alignof(Item) <= 8, "buffers are aligned to 8 bytes");

 public:
  aggregator(items_of<Item>, Handler handler)
      : handler_(std::move(handler)),
        rings_(detail::make_rings(sizeof(Item), &apply, &handler_)),
        cursors_(detail::cursors_of(rings_)) {}
  ~aggregator() { detail::delete_rings(rings_); }
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Hands `item` to the handler of `pe`, 0 ≤ pe < shmem_n_pes(). A store and a compare, unless a buffer is full.
  void push(const Item& item, int pe) {
    detail::cursor& at = cursors_[pe];
    if (at.next == at.end) [[unlikely]]
      detail::turn_over(rings_, pe);
    ::new (static_cast<void*>(at.next)) Item(item);
    at.next += sizeof(Item);
  }

  // Returns when every item that any PE pushed has been handled.
  void done() { detail::finish(rings_); }

  [[nodiscard]] aggregate_statistics statistics() const { return detail::statistics_of(rings_); }

 private:
  static void apply(void* handler, const std::byte* items, std::size_t count) {
    auto& handle = *static_cast<Handler*>(handler);
    const auto* item = reinterpret_cast<const Item*>(items);
    for (std::size_t i = 0; i < count; ++i) handle(item[i]);
  }

  Handler handler_;
  detail::rings* rings_;
  detail::cursor* cursors_;
};

}  // namespace lull
