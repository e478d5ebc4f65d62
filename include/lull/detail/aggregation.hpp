// What the templates of <lull/aggregate.hpp> call in liblull-shmem: routes, buffers and termination, which do not
// depend on the type of the items. src/aggregate/plan/aggregation.hpp is behind it. A change here raises the number in
// cpp_abi.hpp.
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/cpp_abi.hpp>
#include <lull/detail/items.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

// value * by / of, rounded down and exact: the product has 128 bits. Statistics of items of any size need it, since
// bytes times items soon exceeds 64 bits.
constexpr std::uint64_t scaled(std::uint64_t value, std::uint64_t by, std::uint64_t of) {
  __extension__ using product = unsigned __int128;
  return static_cast<std::uint64_t>(product{value} * by / of);
}

// A handler that says to which part of its PE an item belongs.
template <class Item, class Handler>
concept has_parts = requires(const Handler& h, const Item& item) {
  { h.part(item) } -> std::convertible_to<std::size_t>;
};

using apply_batch = void (*)(void* handler, const batch& items);
using offer_batch = std::size_t (*)(void* handler, const batch& items);
// Takes the tags of `count` tagged items of a thread for `pe`, and copies the items without them to `to`.
using detach_tags = void (*)(void* handler, const std::byte* tagged, std::size_t count, int pe, std::byte* to);

class aggregation;
struct history;

struct aggregation_request {
  std::size_t item_bytes;       // 0: items of any size
  apply_batch apply;            // for batches of items without address
  apply_batch apply_addressed;  // for items that begin with 4 bytes of address
  void* handler;
  const aggregate_options* options;
  aggregation* replies;  // into which handlers push; finished together with this one; or null
  bool has_direct;
  // Instead of apply and apply_addressed, never waits: returns how many of the items it took, from the first on; for
  // items of any size, how many bytes.
  offer_batch offer = nullptr;
  bool has_parts = false;  // threads choose a part for each item
  // Instead of apply and apply_addressed for items that threads push for their own PE; null: the same two.
  apply_batch apply_local = nullptr, apply_local_addressed = nullptr;
  // Bytes of the tag before each item that a thread pushes. Tags are detached when items leave for another PE: for one
  // chunk after the other, in the order in which that PE will handle them. Only for items of one size on routes of one
  // hop.
  std::size_t tag_bytes = 0;
  detach_tags detach = nullptr;
  // What the user asked for; `options` may have buffers and hops of a later choice. Null: the route never changes.
  const aggregate_options* requested_options = nullptr;
  // Of the aggregation that this one replaces. This one owns it, unless open_aggregation() throws.
  history* past = nullptr;
};
LULL_API aggregation* open_aggregation(const aggregation_request& request);
LULL_API void close_aggregation(aggregation* a) noexcept;

// Between two phases: whether a change of the route would pay. All PEs get the same answer.
LULL_API bool route_change_due(const aggregation* a) noexcept;
struct route_change {
  aggregate_options to, from;  // the given options, except for buffers and hops
};
LULL_API route_change proposed_route_change(const aggregation* a, const aggregate_options& options);
LULL_API history* close_keeping_history(aggregation* a) noexcept;
LULL_API void keep_route(history* past) noexcept;  // the route will not change again
LULL_API void free_history(history* past) noexcept;

LULL_API cursor* const* cursors_of(aggregation* a) noexcept;              // by PE
LULL_API bool is_addressed(const aggregation* a) noexcept;                // items begin with the number of their PE
LULL_API void make_room(aggregation* a, int pe, std::size_t item_bytes);  // std::length_error
LULL_API void advance(aggregation* a);
LULL_API void finish(aggregation* a);  // with its replies
// What the items of a phase on the direct path may cost more than buffers, and the price of one by its PE.
struct direct_path_budget {
  std::uint64_t left;  // 0: the phase begins with buffers
  const std::uint32_t* prices;
};
LULL_API direct_path_budget begin_of_phase(aggregation* a);
LULL_API void leave_direct_path(aggregation* a);  // the budget is spent
// A phase that began on the direct path: the items that took it, and the sum of their prices.
LULL_API void finish_direct_phase(aggregation* a, std::uint64_t items, std::uint64_t spent);
LULL_API aggregate_statistics statistics_of(const aggregation* a) noexcept;

// The direct path of one phase after the other.
class direct_items {
 public:
  void begin_phase(aggregation* a) {
    now_ = begin_of_phase(a);
    whole_ = now_.left;
    items_ = 0;
  }
  [[nodiscard]] bool began() const { return whole_ != 0; }
  [[nodiscard]] bool open() const { return now_.left != 0; }
  // Whether the next item, for `pe`, takes it. Once one does not, no other of the phase does. Call while open().
  [[nodiscard]] bool take(aggregation* a, int pe) {
    const std::uint32_t price = now_.prices[pe];
    if (price >= now_.left) {
      now_.left = 0;
      leave_direct_path(a);
      return false;
    }
    now_.left -= price;
    ++items_;
    return true;
  }
  // Ends a phase that began().
  void finish(aggregation* a) { finish_direct_phase(a, items_, whole_ - now_.left); }

 private:
  direct_path_budget now_{};
  std::uint64_t whole_ = 0, items_ = 0;
};

// Owns an aggregation and writes items to it.
class channels : public item_writer<aggregation> {
 public:
  explicit channels(const aggregation_request& request) : channels(open_aggregation(request)) {}
  ~channels() {
    if (aggregation_) close_aggregation(aggregation_);
    free_history(past_);
  }
  channels(const channels&) = delete;
  channels& operator=(const channels&) = delete;

  [[nodiscard]] detail::aggregation* aggregation() const { return aggregation_; }

  // Collective, between two phases. No other function may be called before open(), which may be tried again after an
  // exception.
  void close() {
    past_ = close_keeping_history(aggregation_);
    aggregation_ = nullptr;
  }
  void open(aggregation_request request) {
    request.past = past_;
    detail::aggregation* const opened = open_aggregation(request);
    past_ = nullptr;
    aggregation_ = opened;
    item_writer::operator=(item_writer(opened, cursors_of(opened), is_addressed(opened)));
  }
  [[nodiscard]] bool is_open() const { return aggregation_ != nullptr; }
  void keep_route() { detail::keep_route(past_); }

  // Collective, at the end of a phase: opens the aggregation again by request(options) where another route would pay.
  template <class Request>
  void keep_to_best_route(const aggregate_options& requested, Request&& request) {
    if (!route_change_due(aggregation_)) [[likely]]
      return;
    const route_change change = proposed_route_change(aggregation_, requested);
    close();
    try {
      open(request(change.to));
    } catch (const std::bad_alloc&) {  // the program has filled the symmetric heap meanwhile
      keep_route();
      open(request(change.from));
    }
  }

 private:
  explicit channels(detail::aggregation* opened)
      : item_writer(opened, cursors_of(opened), is_addressed(opened)), aggregation_(opened) {}

  detail::aggregation* aggregation_;
  history* past_ = nullptr;  // between close() and open()
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
