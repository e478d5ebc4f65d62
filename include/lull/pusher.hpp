// What one thread of a PE pushes through: aggregator::pusher(), in lull/aggregate.hpp, says when.
//
//     lull::aggregator histogram{lull::items<std::uint64_t>, [&](std::uint64_t bin) { ++bins[bin]; }};
//     auto work = [&](std::span<const std::uint64_t> indices) {           // in each thread
//       auto mine = histogram.pusher();
//       for (std::uint64_t i : indices) mine.push(i % 1000, static_cast<int>(i / 1000));
//     };
//     ...                                                                 // all threads have come to their ends
//     histogram.done();
//
// A pusher is used and destroyed by the thread that made it. It keeps items in chunks, one for each buffer into which
// it has pushed, and gives a chunk to the buffer when it is full. Its destructor gives what it still holds, and may
// wait for room.
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

template <class Handler>
pusher<bytes_of_any_size> aggregator<bytes_of_any_size, Handler>::pusher() {
  return lull::pusher<bytes_of_any_size>(lanes_.channel(), pushed_by_threads_);
}

}  // namespace lull
