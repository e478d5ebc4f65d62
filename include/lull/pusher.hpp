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
// the thread has pushed, and give a chunk to the buffer when it is full. The destructor gives what they still hold, and
// may wait for room.
#pragma once
#include <lull/aggregate.hpp>

namespace lull {
namespace detail {

// Chunks of a thread. See src/aggregate/producer.hpp.
class producer;
LULL_API producer* open_producer(aggregation* a);  // std::logic_error in a program without SHMEM_THREAD_MULTIPLE
LULL_API void close_producer(producer* p) noexcept;
LULL_API cursor* const* cursors_of(producer* p) noexcept;              // by PE
LULL_API void turn_over(producer* p, int pe, std::size_t item_bytes);  // makes room; std::length_error
LULL_API void advance(producer* p);

class thread_channels : public item_writer<producer> {
 public:
  explicit thread_channels(aggregation* a) : thread_channels(open_producer(a), is_addressed(a)) {}
  ~thread_channels() { close_producer(producer_); }
  thread_channels(const thread_channels&) = delete;
  thread_channels& operator=(const thread_channels&) = delete;

  void advance() { detail::advance(producer_); }

 private:
  thread_channels(producer* made, bool addressed) : item_writer(made, cursors_of(made), addressed), producer_(made) {}

  producer* producer_;
};

}  // namespace detail

template <class Item>
class pusher {
 public:
  void push(const Item& item, int pe) { channels_.push(item, pe); }  // as aggregator::push()
  void advance() { channels_.advance(); }                            // as aggregator::advance(), with these chunks

 private:
  template <class, class>
  friend class aggregator;
  explicit pusher(detail::aggregation* a) : channels_(a) {}

  detail::thread_channels channels_;
};

template <>
class pusher<bytes_of_any_size> {
 public:
  ~pusher() { all_pushed_.fetch_add(pushed_, std::memory_order_relaxed); }
  pusher(const pusher&) = delete;
  pusher& operator=(const pusher&) = delete;

  void push(std::span<const std::byte> item, int pe) {
    channels_.push_bytes(item.size(), pe, [&](std::byte* to) {
      if (!item.empty()) std::memcpy(to, item.data(), item.size());
    });
    ++pushed_;
  }
  void advance() { channels_.advance(); }

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::aggregation* a, std::atomic<std::uint64_t>& all_pushed) : all_pushed_(all_pushed), channels_(a) {}

  std::atomic<std::uint64_t>& all_pushed_;
  std::uint64_t pushed_ = 0;
  detail::thread_channels channels_;
};

template <class Request>
class getter {
 public:
  void get(const Request& request, int pe) {
    channels_.push(detail::tagged_request<Request>{me_, where_++, request}, pe);
  }
  void into(std::size_t first) { where_ = static_cast<std::uint32_t>(first); }  // the next fills values[first]
  void advance() { channels_.advance(); }                                       // as gatherer::advance()

 private:
  template <class, class>
  friend class gatherer;
  getter(detail::aggregation* a, std::uint32_t first) : where_(first), channels_(a) {}

  std::uint32_t me_ = static_cast<std::uint32_t>(shmem_my_pe());
  std::uint32_t where_;
  detail::thread_channels channels_;
};

template <class Handler>
pusher<bytes_of_any_size> aggregator<bytes_of_any_size, Handler>::pusher() {
  return lull::pusher<bytes_of_any_size>(channels_.aggregation(), pushed_by_threads_);
}

}  // namespace lull
