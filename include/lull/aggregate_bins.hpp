// A handler for tables larger than the caches: it collects items in bins, and handles one bin at a time.
//
//     lull::binned increment{lull::items_of<std::uint64_t>{}, 64, [](std::uint64_t word) { return word >> 19; },
//                            [&](std::uint64_t word) { ++table[word]; }};
//     lull::aggregator histogram{lull::items_of<std::uint64_t>{}, std::move(increment)};
//
// key(item) returns the bin, 0 ≤ key < bins. Items with one key should touch the same part of the table, so that this
// part is in the caches, and its pages in the TLB, while the bin is handled. A bin is handled when it is full, and
// every bin in done(), before that returns; items of one bin in the order of their arrival. If the handler has direct()
// and finish(), so has this one. 64 bins of 16,384 items of 8 bytes take 8 MiB.
#pragma once
#include <lull/aggregate_options.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace lull {
inline namespace cpp_abi_1 {

template <class Item, class Key, class Handler>
class binned {
 public:
  binned(items_of<Item>, std::size_t bins, Key key, Handler handler, std::size_t items_in_bin = 16'384)
      : key_(std::move(key)),
        handler_(std::move(handler)),
        items_(bins * (items_in_bin == 0 ? 1 : items_in_bin)),
        bins_(bins) {
    const std::size_t capacity = bins == 0 ? 0 : items_.size() / bins;
    Item* at = items_.data();
    for (bin& b : bins_) {
      b.first = b.next = at;
      b.end = at += capacity;
    }
  }

  void operator()(const Item& item) {
    bin& to = bins_[static_cast<std::size_t>(key_(item))];
    *to.next = item;
    if (++to.next == to.end) [[unlikely]]
      handle(to);
  }

  void direct(const Item& item, int pe) requires requires(Handler& h) { h.direct(item, pe); }
  { handler_.direct(item, pe); }

  binned(binned&&) noexcept = default;
  binned& operator=(binned&&) noexcept = default;
  binned(const binned&) = delete;
  binned& operator=(const binned&) = delete;
  ~binned() = default;

  void finish() {
    for (bin& b : bins_) handle(b);
    if constexpr (requires(Handler & h) { h.finish(); }) handler_.finish();
  }

  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  struct bin {
    Item *first, *next, *end;
  };

  void handle(bin& full) {
    for (const Item* item = full.first; item != full.next; ++item) handler_(*item);
    full.next = full.first;
  }

  Key key_;
  Handler handler_;
  std::vector<Item> items_;
  std::vector<bin> bins_;  // which point into items_, also after a move
};

}  // namespace cpp_abi_1
}  // namespace lull
