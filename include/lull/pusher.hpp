// What one thread of a PE pushes or gets through: the contract in lull/aggregate.hpp says when.
//
//     lull::aggregator histogram{lull::items<std::uint64_t>, [&](std::uint64_t bin) { ++bins[bin]; }};
//     auto work = [&](std::span<const std::uint64_t> indices) {           // in each thread
//       auto mine = histogram.pusher();
//       for (std::uint64_t i : indices) mine.push(i % 1000, static_cast<int>(i / 1000));
//     };
//     ...                                                                 // all threads have come to their ends
//     histogram.done();
//
// and of a gatherer, made with options.getters, whose values lie one behind the other for all threads:
//
//     words.into(values);
//     auto work = [&](std::size_t begin, std::size_t end) {               // in each thread
//       auto mine = words.getter(begin);                                  // its k-th get fills values[begin + k]
//       for (std::size_t k = begin; k < end; ++k) mine.get(indices[k] % 1000, static_cast<int>(indices[k] / 1000));
//     };
//
// Both are used and destroyed by the thread that made them. They keep items in chunks, one for each buffer into which
// the thread has pushed, and give a chunk to the buffer when it is full. What stays on the PE goes from thread to thread
// in blocks of 32 KiB, for each part of the PE. The destructor gives what they still hold, and returns when what of it
// stays on the PE has been handled; it may wait for room.
#pragma once
#include <lull/aggregate.hpp>

namespace lull {
namespace detail {

// Chunks of a thread. See src/aggregate/producer.hpp.
class producer;
LULL_API producer* open_producer(aggregation* a);  // std::logic_error in a program without SHMEM_THREAD_MULTIPLE
LULL_API void close_producer(producer* p) noexcept;
LULL_API cursor* const* cursors_of(producer* p) noexcept;                 // by PE, then by part of this PE
LULL_API std::size_t parts_of(const producer* p) noexcept;                // a power of two
LULL_API void turn_over(producer* p, int entry, std::size_t item_bytes);  // makes room; std::length_error
LULL_API void advance(producer* p);

class thread_channels : public item_writer<producer> {
 public:
  explicit thread_channels(aggregation* a) : thread_channels(open_producer(a), is_addressed(a)) {}
  ~thread_channels() { close_producer(producer_); }
  thread_channels(const thread_channels&) = delete;
  thread_channels& operator=(const thread_channels&) = delete;

  void advance() { detail::advance(producer_); }
  [[nodiscard]] std::size_t parts() const { return parts_of(producer_); }

 private:
  thread_channels(producer* made, bool addressed) : item_writer(made, cursors_of(made), addressed), producer_(made) {}

  producer* producer_;
};

// What a thread asks through.
template <class Request>
class thread_requests {
 public:
  explicit thread_requests(const requests_of_threads& into) : channels_(into.to), noted_(into.noted) {}

  void push(const Request& asked, std::uint32_t where, int pe) {
    if (noted_)
      channels_.template push_as<false>(noted_request<Request>{where, asked}, pe);
    else
      channels_.push(tagged_request<Request>{me_, where, asked}, pe);
  }
  // make(i), 0 ≤ i < count, gives a request and its PE; `where` of the i-th is first + i.
  template <class Make>
  void push_each(std::size_t count, std::uint32_t first, Make& make) {
    const auto with = [&]<class Pushed>(auto&& mark) {
      const auto marked = [&](std::size_t i) {
        const auto& [asked, pe] = make(i);
        return std::pair<Pushed, int>(mark(first + static_cast<std::uint32_t>(i), asked), static_cast<int>(pe));
      };
      channels_.template push_each<Pushed>(count, marked, [](std::size_t, int) {});
    };
    using noted = noted_request<Request>;
    using tagged = tagged_request<Request>;
    if (noted_)
      with.template operator()<noted>([](std::uint32_t where, const Request& asked) { return noted{where, asked}; });
    else
      with.template operator()<tagged>([me = me_](std::uint32_t where, const Request& asked) {
        return tagged{me, where, asked};
      });
  }
  void advance() { channels_.advance(); }

 private:
  std::uint32_t me_ = static_cast<std::uint32_t>(shmem_my_pe());
  thread_channels channels_;
  bool noted_;
};

// Which cursor an item takes: its PE's, or that of its part of this PE.
template <class Item, class Handler>
class entry_of {
 public:
  entry_of(const Handler& handler, const thread_channels& to) : handler_(handler), last_part_(to.parts() - 1) {}
  int operator()(const Item& item, int pe) const {
    const int part = inside(item);
    return __builtin_expect_with_probability(pe == me_, 1, 0.5) ? part : pe;  // no branch: it cannot be predicted
  }
  bool alone() const { return pes_ == 1; }  // then all items stay here
  int inside(const Item& item) const {
    return pes_ + static_cast<int>(static_cast<std::size_t>(handler_.part(item)) & last_part_);
  }

 private:
  const Handler& handler_;
  std::size_t last_part_;
  int me_ = shmem_my_pe(), pes_ = shmem_n_pes();
};
template <class Item, class Handler>
requires(!has_parts<Item, Handler>) class entry_of<Item, Handler> {
 public:
  entry_of(const Handler&, const thread_channels&) {}
  int operator()(const Item&, int pe) const { return pe; }
};

}  // namespace detail

template <class Item, class Handler>
class pusher {
 public:
  void push(const Item& item, int pe) { channels_.push(item, entry_(item, pe)); }  // as aggregator::push()
  // As aggregator::push_each().
  template <class Make>
  void push_each(std::size_t count, Make&& make) {
    const detail::entry_of<Item, Handler> entry = entry_;  // not looked up again for each
    const auto push_to = [&](auto&& way) {
      const auto placed = [&](std::size_t i) {
        const auto& [item, pe] = make(i);
        return std::pair<Item, int>(item, way(item, static_cast<int>(pe)));
      };
      channels_.template push_each<Item>(count, placed, [](std::size_t, int) {});
    };
    if constexpr (detail::has_parts<Item, Handler>)
      if (entry.alone()) return push_to([&](const Item& item, int) { return entry.inside(item); });
    push_to(entry);
  }
  void advance() { channels_.advance(); }  // as aggregator::advance(), with these chunks

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::aggregation* a, const Handler& handler) : channels_(a), entry_(handler, channels_) {}

  detail::thread_channels channels_;
  detail::entry_of<Item, Handler> entry_;
};

template <class Handler>
class pusher<bytes_of_any_size, Handler> {
 public:
  ~pusher() { all_pushed_.fetch_add(pushed_, std::memory_order_relaxed); }
  pusher(const pusher&) = delete;
  pusher& operator=(const pusher&) = delete;

  void push(std::span<const std::byte> item, int pe) {
    channels_.push_bytes(item.size(), entry_(item, pe), [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  void advance() { channels_.advance(); }

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::aggregation* a, const Handler& handler, std::atomic<std::uint64_t>& all_pushed)
      : all_pushed_(all_pushed), channels_(a), entry_(handler, channels_) {}

  std::atomic<std::uint64_t>& all_pushed_;
  std::uint64_t pushed_ = 0;
  detail::thread_channels channels_;
  detail::entry_of<std::span<const std::byte>, Handler> entry_;
};

template <class Request>
class getter {
 public:
  void get(const Request& request, int pe) { requests_.push(request, where_++, pe); }
  // As gatherer::get_each().
  template <class Make>
  void get_each(std::size_t count, Make&& make) {
    requests_.push_each(count, where_, make);
    where_ += static_cast<std::uint32_t>(count);
  }
  void into(std::size_t first) { where_ = static_cast<std::uint32_t>(first); }  // the next fills values[first]
  void advance() { requests_.advance(); }                                       // as gatherer::advance()

 private:
  template <class, class>
  friend class gatherer;
  getter(const detail::requests_of_threads& into, std::uint32_t first) : where_(first), requests_(into) {}

  std::uint32_t where_;
  detail::thread_requests<Request> requests_;
};

template <class Handler>
pusher<bytes_of_any_size, Handler> aggregator<bytes_of_any_size, Handler>::pusher() {
  return lull::pusher<bytes_of_any_size, Handler>(channels_.aggregation(), handler_, pushed_by_threads_);
}

}  // namespace lull
