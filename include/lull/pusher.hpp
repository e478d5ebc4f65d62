// How several threads of a PE use one aggregator or gatherer: each through a pusher or getter of its own.
//
//     lull::aggregator histogram{lull::items_of<std::uint64_t>{}, [&](std::uint64_t bin) { ++bins[bin]; }};
//     auto work = [&](std::span<const std::uint64_t> indices) {           // in each thread
//       auto mine = histogram.pusher();
//       for (std::uint64_t i : indices) mine.push(i % 1000, static_cast<int>(i / 1000));
//     };
//     ...                                                                 // join the threads
//     histogram.done();
//
// and for a gatherer made with aggregate_options::getters:
//
//     words.into(values);
//     auto work = [&](std::size_t begin, std::size_t end) {               // in each thread
//       auto mine = words.getter(begin);                                  // its k-th get fills values[begin + k]
//       for (std::size_t k = begin; k < end; ++k) mine.get(indices[k] % 1000, static_cast<int>(indices[k] / 1000));
//     };
//
// Contract. The program has called shmem_init_thread() with SHMEM_THREAD_MULTIPLE. One thread makes, uses and destroys
// each pusher or getter. While any exists, only pusher(), getter(), advance() and statistics() of the aggregator or
// gatherer itself may be called. All are destroyed before done(), which one thread calls.
//
// A thread collects items in chunks of its own, one for each buffer that it pushes into, and copies a full chunk to the
// buffer, which all threads of the PE share. So an item counts as pushed, and can leave, when its chunk is full, at
// advance(), or in the destructor. Items for the thread's own PE pass from thread to thread in blocks of 32 KiB, one
// for each part of the PE. The destructor passes on what is left, may wait for room, and returns when what the thread
// pushed for its own PE has been handled.
//
// Handlers still run one at a time, in any of the PE's threads, except with
//   aggregate_options::concurrent_handlers   handlers of a PE may run in several threads at once
//   part(item) of the handler                handlers of items of different parts may run at once
// Items of one thread for one PE (and one part) arrive in the order of their pushes if the route has one hop.
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/thread_channels.hpp>

namespace lull {
inline namespace cpp_abi_1 {

// One thread's access to an aggregator; see lull::aggregator for what the functions do.
template <class Item, class Handler>
class pusher {
 public:
  void push(const Item& item, int pe);
  template <class Make>
  void push_each(std::size_t count, Make&& make);
  void advance();  // also passes on this thread's chunks

 private:
  template <class, class>
  friend class aggregator;
  pusher(detail::aggregation* a, const Handler& handler) : channels_(a), cursor_index_(handler, channels_) {}

  detail::thread_channels channels_;
  detail::cursor_index<Item, Handler> cursor_index_;
};

// One thread's access to a gatherer; see lull::gatherer for what the functions do.
template <class Request>
class getter {
 public:
  void get(const Request& request, int pe);
  template <class Make>
  void get_each(std::size_t count, Make&& make);
  void into(std::size_t first);  // the next get fills values[first]
  void advance();                // also passes on this thread's chunks

 private:
  template <class, class>
  friend class gatherer;
  getter(const detail::thread_request_target& target, std::uint32_t first) : next_(first), requests_(target) {}

  std::uint32_t next_;  // index of the value that the next get fills
  detail::thread_requests<Request> requests_;
};

}  // namespace cpp_abi_1
}  // namespace lull

#include <lull/detail/pusher.hpp>
