// A handler for tables larger than the caches: it keeps items back in bins, and handles a bin at a time.
//
//     lull::aggregator histogram{lull::items<std::uint64_t>,
//                                lull::binned{lull::items<std::uint64_t>, 64, [](std::uint64_t bin) { return bin >> 19;
//                                },
//                                             [&](std::uint64_t bin) { ++bins[bin]; }}};
//
// key(item) says which bin, 0 ≤ key < bins: items that touch the same part of a table belong together, so that this
// part is in the caches, and its pages in the translation buffer, while they are handled. A bin is handled when it is
// full, and all are in done(), before it returns. Items of one bin are handled in the order of their arrival. 64 bins
// of 16,384 items of 8 bytes take 8 MiB.
#pragma once
#include <lull/aggregate.hpp>

namespace lull {

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

}  // namespace lull
