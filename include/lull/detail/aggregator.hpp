// Bodies of lull::aggregator, and its form for items of any size.
#pragma once
#include <lull/aggregate.hpp>

#include <atomic>
#include <cstring>
#include <utility>

namespace lull {
inline namespace cpp_abi_1 {

template <class Item, class Handler>
inline aggregator<Item, Handler>::aggregator(items_of<Item>, Handler handler, const aggregate_options& options)
    : handler_(std::move(handler)), options_(options), channels_(request(options_)) {
  begin_phase();
}

template <class Item, class Handler>
inline void aggregator<Item, Handler>::push(const Item& item, int pe) {
  if constexpr (has_direct)
    if (direct_.open()) [[unlikely]]
      if (direct_.take(channels_.aggregation(), pe)) return handler_.direct(item, pe);
  channels_.push(item, pe);
}

template <class Item, class Handler>
template <class Make>
inline void aggregator<Item, Handler>::push_each(std::size_t count, Make&& make) {
  std::size_t done = 0;
  if constexpr (has_direct)
    for (; done < count && direct_.open(); ++done) {
      const auto& [item, pe] = make(done);
      push(item, static_cast<int>(pe));
    }
  const auto rest = [&](std::size_t i) -> decltype(auto) { return make(done + i); };
  channels_.template push_each<Item>(count - done, rest, [](std::size_t, int) {});
}

template <class Item, class Handler>
inline lull::pusher<Item, Handler> aggregator<Item, Handler>::pusher() {
  return lull::pusher<Item, Handler>(channels_.aggregation(), handler_);
}

template <class Item, class Handler>
inline void aggregator<Item, Handler>::advance() {
  detail::advance(channels_.aggregation());
}

template <class Item, class Handler>
inline void aggregator<Item, Handler>::done() {
  if (direct_.began())
    direct_.finish(channels_.aggregation());
  else
    detail::finish(channels_.aggregation());
  if constexpr (has_finish) handler_.finish();
  channels_.keep_to_best_route(options_, [this](const aggregate_options& options) { return request(options); });
  begin_phase();
}

template <class Item, class Handler>
inline aggregate_statistics aggregator<Item, Handler>::statistics() const {
  return detail::statistics_of(channels_.aggregation());
}

template <class Item, class Handler>
inline detail::aggregation_request aggregator<Item, Handler>::request(const aggregate_options& options) {
  return {.item_bytes = sizeof(Item),
          .apply = &apply<false>,
          .apply_addressed = &apply<true>,
          .handler = this,
          .options = &options,
          .replies = nullptr,
          .has_direct = has_direct,
          .has_parts = detail::has_parts<Item, Handler>,
          .requested_options = &options_};
}

template <class Item, class Handler>
inline void aggregator<Item, Handler>::begin_phase() {
  if constexpr (has_direct) direct_.begin_phase(channels_.aggregation());
}

template <class Item, class Handler>
template <bool Addressed>
inline void aggregator<Item, Handler>::apply(void* self, const detail::batch& items) {
  auto& me = *static_cast<aggregator*>(self);
  using codec = detail::item_codec<Addressed>;
  if constexpr (has_direct)
    if (me.direct_.began()) [[unlikely]]
      return codec::template each<Item>(items, [&](const Item& item) { me.handler_.direct(item, shmem_my_pe()); });
  codec::template each<Item>(items, me.handler_);
}

// Items of any size. The alignment of an item is not kept; items of no bytes are items too.
template <class Handler>
class aggregator<byte_span, Handler> : detail::same_cpp_abi {
  static constexpr bool has_finish = requires(Handler & h) { h.finish(); };

 public:
  aggregator(items_of<byte_span>, Handler handler, const aggregate_options& options = {})
      : handler_(std::move(handler)), options_(options), channels_(request(options_)) {}
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  void push(byte_span item, int pe) {
    channels_.push_bytes(item.size(), pe, [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  [[nodiscard]] lull::pusher<byte_span, Handler> pusher() {
    return lull::pusher<byte_span, Handler>(channels_.aggregation(), handler_, pushed_by_threads_);
  }
  void advance() { detail::advance(channels_.aggregation()); }
  void done() {
    detail::finish(channels_.aggregation());
    if constexpr (has_finish) handler_.finish();
    channels_.keep_to_best_route(options_, [this](const aggregate_options& options) { return request(options); });
  }
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now = detail::statistics_of(channels_.aggregation());  // whose items are bytes
    const std::uint64_t pushed = pushed_ + pushed_by_threads_.load(std::memory_order_relaxed);
    now.cpu_ns_per_item *= pushed == 0 ? 0 : static_cast<double>(now.items) / static_cast<double>(pushed);
    now.hops = now.items == 0 ? 0 : detail::scaled(now.hops, pushed, now.items);
    now.items = pushed;
    return now;
  }
  [[nodiscard]] Handler& handler() { return handler_; }

 private:
  [[nodiscard]] detail::aggregation_request request(const aggregate_options& options) {
    return {.item_bytes = 0,
            .apply = &apply<false>,
            .apply_addressed = &apply<true>,
            .handler = &handler_,
            .options = &options,
            .replies = nullptr,
            .has_direct = false,
            .has_parts = detail::has_parts<byte_span, Handler>,
            .requested_options = &options_};
  }
  template <bool Addressed>
  static void apply(void* handler, const detail::batch& items) {
    detail::item_codec<Addressed>::each_of_any_size(items, *static_cast<Handler*>(handler));
  }

  Handler handler_;
  aggregate_options options_;
  detail::channels channels_;
  std::uint64_t pushed_ = 0;
  std::atomic<std::uint64_t> pushed_by_threads_{0};
};

}  // namespace cpp_abi_1
}  // namespace lull
