// What a pusher or getter writes to: the chunks of one thread, which src/aggregate/plan/producer.hpp keeps.
#pragma once
#include <lull/detail/aggregation.hpp>

#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

class producer;
LULL_API producer* open_producer(aggregation* a);  // std::logic_error in a program without SHMEM_THREAD_MULTIPLE
LULL_API void close_producer(producer* p) noexcept;
LULL_API cursor* const* cursors_of(producer* p) noexcept;                 // by PE, then by part of this PE
LULL_API std::size_t parts_of(const producer* p) noexcept;                // a power of two
LULL_API void make_room(producer* p, int index, std::size_t item_bytes);  // of that cursor; std::length_error
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
  thread_channels(producer* opened, bool addressed)
      : item_writer(opened, cursors_of(opened), addressed), producer_(opened) {}

  producer* producer_;
};

// Requests as they travel on routes of several hops: `origin` is the requester, and the reply belongs to its `index`.
template <class Request>
struct __attribute__((packed)) tagged_request {
  std::uint32_t origin, index;
  Request request;
};
// Requests in a thread's chunk on routes of one hop. The index is a tag that is detached when the request leaves.
template <class Request>
struct __attribute__((packed)) indexed_request {
  std::uint32_t index;
  Request request;
};

// Where a getter pushes, and which of the two forms it uses.
struct thread_request_target {
  aggregation* requests;
  bool ordered;  // replies come in the order of the requests: indexed_request
};

// The requests that a getter pushes.
template <class Request>
class thread_requests {
 public:
  explicit thread_requests(const thread_request_target& target)
      : channels_(target.requests), ordered_(target.ordered) {}

  void push(const Request& request, std::uint32_t index, int pe) {
    if (ordered_)
      channels_.template push_as<false>(indexed_request<Request>{index, request}, pe);
    else
      channels_.push(tagged_request<Request>{me_, index, request}, pe);
  }
  // make(i), 0 ≤ i < count, returns a request and its PE; its index is first + i.
  template <class Make>
  void push_each(std::size_t count, std::uint32_t first, Make& make) {
    const auto push_with = [&]<class Pushed>(auto&& tag) {
      const auto tagged = [&](std::size_t i) {
        const auto& [request, pe] = make(i);
        return std::pair<Pushed, int>(tag(first + static_cast<std::uint32_t>(i), request), static_cast<int>(pe));
      };
      channels_.template push_each<Pushed>(count, tagged, [](std::size_t, int) {});
    };
    using indexed = indexed_request<Request>;
    using tagged = tagged_request<Request>;
    if (ordered_)
      push_with.template operator()<indexed>([](std::uint32_t index, const Request& request) {
        return indexed{index, request};
      });
    else
      push_with.template operator()<tagged>([me = me_](std::uint32_t index, const Request& request) {
        return tagged{me, index, request};
      });
  }
  void advance() { channels_.advance(); }

 private:
  std::uint32_t me_ = static_cast<std::uint32_t>(shmem_my_pe());
  thread_channels channels_;
  bool ordered_;
};

// The index of the cursor for an item: that of its PE, or that of its part of this PE.
template <class Item, class Handler>
class cursor_index {
 public:
  cursor_index(const Handler& handler, const thread_channels& to) : handler_(handler), last_part_(to.parts() - 1) {}
  int operator()(const Item& item, int pe) const {
    const int part = local(item);
    return __builtin_expect_with_probability(pe == me_, 1, 0.5) ? part : pe;  // a branch could not be predicted
  }
  [[nodiscard]] bool single_pe() const { return pes_ == 1; }  // so that every item stays here
  [[nodiscard]] int local(const Item& item) const {
    return pes_ + static_cast<int>(static_cast<std::size_t>(handler_.part(item)) & last_part_);
  }

 private:
  const Handler& handler_;
  std::size_t last_part_;
  int me_ = shmem_my_pe(), pes_ = shmem_n_pes();
};
template <class Item, class Handler>
requires(!has_parts<Item, Handler>) class cursor_index<Item, Handler> {
 public:
  cursor_index(const Handler&, const thread_channels&) {}
  int operator()(const Item&, int pe) const { return pe; }
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
