// Bodies of lull::pusher and lull::getter, and the pusher of items of any size.
#pragma once
#include <lull/pusher.hpp>

#include <atomic>
#include <cstring>
#include <utility>

namespace lull {
inline namespace cpp_abi_1 {

template <class Item, class Handler>
inline void pusher<Item, Handler>::push(const Item& item, int pe) {
  channels_.push(item, cursor_index_(item, pe));
}

template <class Item, class Handler>
template <class Make>
inline void pusher<Item, Handler>::push_each(std::size_t count, Make&& make) {
  const detail::cursor_index<Item, Handler> index = cursor_index_;  // a copy: not loaded again for each item
  const auto push_by = [&](auto&& index_of) {
    const auto with_cursor = [&](std::size_t i) {
      const auto& [item, pe] = make(i);
      return std::pair<Item, int>(item, index_of(item, static_cast<int>(pe)));
    };
    channels_.template push_each<Item>(count, with_cursor, [](std::size_t, int) {});
  };
  if constexpr (detail::has_parts<Item, Handler>)
    if (index.single_pe()) return push_by([&](const Item& item, int) { return index.local(item); });
  push_by(index);
}

template <class Item, class Handler>
inline void pusher<Item, Handler>::advance() {
  channels_.advance();
}

template <class Handler>
class pusher<byte_span, Handler> {
 public:
  ~pusher() { all_pushed_.fetch_add(pushed_, std::memory_order_relaxed); }
  pusher(const pusher&) = delete;
  pusher& operator=(const pusher&) = delete;

  void push(byte_span item, int pe) {
    channels_.push_bytes(item.size(), cursor_index_(item, pe), [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  void advance() { channels_.advance(); }

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::aggregation* a, const Handler& handler, std::atomic<std::uint64_t>& all_pushed)
      : all_pushed_(all_pushed), channels_(a), cursor_index_(handler, channels_) {}

  std::atomic<std::uint64_t>& all_pushed_;  // of the aggregator
  std::uint64_t pushed_ = 0;
  detail::thread_channels channels_;
  detail::cursor_index<byte_span, Handler> cursor_index_;
};

template <class Request>
inline void getter<Request>::get(const Request& request, int pe) {
  requests_.push(request, next_++, pe);
}

template <class Request>
template <class Make>
inline void getter<Request>::get_each(std::size_t count, Make&& make) {
  requests_.push_each(count, next_, make);
  next_ += static_cast<std::uint32_t>(count);
}

template <class Request>
inline void getter<Request>::into(std::size_t first) {
  next_ = static_cast<std::uint32_t>(first);
}

template <class Request>
inline void getter<Request>::advance() {
  requests_.advance();
}

}  // namespace cpp_abi_1
}  // namespace lull
