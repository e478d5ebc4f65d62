// What one thread of a PE pushes or pulls through: the contract in lull/aggregate.hpp says when.
//
//     lull::aggregator histogram{lull::items<std::uint64_t>, [&](std::uint64_t bin) { ++bins[bin]; }};
//     auto work = [&](std::span<const std::uint64_t> indices) {           // in each thread
//       auto mine = histogram.pusher();
//       for (std::uint64_t i : indices) mine.push(i % 1000, static_cast<int>(i / 1000));
//     };
//     ...                                                                 // all threads have come to their ends
//     histogram.done();
//
// and of a gatherer, made with options.pullers, whose values lie one behind the other for all threads:
//
//     words.into(values);
//     auto work = [&](std::size_t begin, std::size_t end) {               // in each thread
//       auto mine = words.puller(begin);                                  // its k-th pull fills values[begin + k]
//       for (std::size_t k = begin; k < end; ++k) mine.pull(indices[k] % 1000, static_cast<int>(indices[k] / 1000));
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
LULL_API producer* open_producer(channel* c);  // std::logic_error in a program without SHMEM_THREAD_MULTIPLE
LULL_API void close_producer(producer* p) noexcept;
LULL_API cursor* const* cursors_of(producer* p) noexcept;              // by PE
LULL_API void turn_over(producer* p, int pe, std::size_t item_bytes);  // makes room; std::length_error
LULL_API void advance(producer* p);

class thread_lanes {
 public:
  explicit thread_lanes(channel* c)
      : producer_(open_producer(c)), cursors_(cursors_of(producer_)), addressed_(is_addressed(c)) {}
  ~thread_lanes() { close_producer(producer_); }
  thread_lanes(const thread_lanes&) = delete;
  thread_lanes& operator=(const thread_lanes&) = delete;

  template <class Item>
  void push(const Item& item, int pe) {
    cursor& at = *cursors_[pe];
    if (at.next == at.end) [[unlikely]]
      turn_over(producer_, pe, sizeof(Item));
    std::byte* to = at.next;
    at.next = to + sizeof(Item) + (addressed_ ? address_bytes : 0);
    write(begin(to, pe), item);
  }
  void push_bytes(std::span<const std::byte> item, int pe) {
    const std::size_t bytes = (addressed_ ? address_bytes : 0) + sizeof(std::uint32_t) + item.size();
    cursor& at = *cursors_[pe];
    if (static_cast<std::size_t>(at.end - at.next) < bytes) [[unlikely]]
      turn_over(producer_, pe, bytes);
    std::byte* const to = begin(at.next, pe);
    at.next += bytes;
    write(to, static_cast<std::uint32_t>(item.size()));
    if (!item.empty()) std::memcpy(to + sizeof(std::uint32_t), item.data(), item.size());
  }
  void advance() { detail::advance(producer_); }

 private:
  std::byte* begin(std::byte* to, int pe) const {
    if (!addressed_) return to;
    write(to, static_cast<std::uint32_t>(pe));
    return to + address_bytes;
  }

  producer* producer_;
  cursor* const* cursors_;
  bool addressed_;
};

}  // namespace detail

template <class Item>
class pusher {
 public:
  void push(const Item& item, int pe) { lanes_.push(item, pe); }  // as aggregator::push()
  void advance() { lanes_.advance(); }                            // as aggregator::advance(), with these chunks

 private:
  template <class, class>
  friend class aggregator;
  explicit pusher(detail::channel* c) : lanes_(c) {}

  detail::thread_lanes lanes_;
};

template <>
class pusher<bytes_of_any_size> {
 public:
  ~pusher() { all_pushed_.fetch_add(pushed_, std::memory_order_relaxed); }
  pusher(const pusher&) = delete;
  pusher& operator=(const pusher&) = delete;

  void push(std::span<const std::byte> item, int pe) {
    lanes_.push_bytes(item, pe);
    ++pushed_;
  }
  void advance() { lanes_.advance(); }

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::channel* c, std::atomic<std::uint64_t>& all_pushed) : all_pushed_(all_pushed), lanes_(c) {}

  std::atomic<std::uint64_t>& all_pushed_;
  std::uint64_t pushed_ = 0;
  detail::thread_lanes lanes_;
};

template <class Request>
class puller {
 public:
  void pull(const Request& request, int pe) {
    lanes_.push(detail::tagged_request<Request>{me_, where_++, request}, pe);
  }
  void into(std::size_t first) { where_ = static_cast<std::uint32_t>(first); }  // the next fills values[first]
  void advance() { lanes_.advance(); }                                          // as gatherer::advance()

 private:
  template <class, class>
  friend class gatherer;
  puller(detail::channel* c, std::uint32_t first) : where_(first), lanes_(c) {}

  std::uint32_t me_ = static_cast<std::uint32_t>(shmem_my_pe());
  std::uint32_t where_;
  detail::thread_lanes lanes_;
};

template <class Handler>
pusher<bytes_of_any_size> aggregator<bytes_of_any_size, Handler>::pusher() {
  return lull::pusher<bytes_of_any_size>(lanes_.channel(), pushed_by_threads_);
}

}  // namespace lull
