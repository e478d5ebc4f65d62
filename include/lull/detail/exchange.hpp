// Requests and their replies: what lull::gatherer and lull::table_reader have in common.
//
// An exchange is two aggregations, one for requests, whose handlers push replies into the other.
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/aggregation.hpp>
#include <lull/detail/thread_channels.hpp>

#include <shmem.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

// `options` with the chosen route. Collective, because the choice may need measurements.
LULL_API aggregate_options with_chosen_route(const aggregate_options& options, std::size_t item_bytes);
// The same for requests and replies, each with its share of the memory; the rest is for the indices of values.
struct exchange_sizes {
  std::size_t request_bytes, usual_reply_bytes, least_reply_bytes;
};
struct exchange_route {
  aggregate_options options;  // of both aggregations
  bool ordered;               // replies from a PE come in the order of the requests to it
};
LULL_API exchange_route choose_exchange_route(const aggregate_options& options, const exchange_sizes& sizes);
constexpr std::size_t bytes_of_indices(std::size_t requests_in_flight) {
  return std::bit_ceil(requests_in_flight) * sizeof(std::uint32_t);
}
// The most items in flight from one PE to another, on routes of one hop; for items of any size, bytes.
LULL_API std::size_t max_items_in_flight(const aggregation* a) noexcept;
// The largest item of any size that fits into every buffer of the route, in bytes.
LULL_API std::size_t max_item_bytes(const aggregation* a) noexcept;

// get(request, pe, index) makes receive(index, value) run here before done() returns, where value is handle(request)
// computed on `pe`. On routes of one hop replies come in the order of the requests, so neither carries an index; else
// both do. This holds for requests of threads too: requests of all threads to one PE get one order when they leave. A
// handler that returns a byte_span replies with these bytes, whose number may differ from call to call.
template <class Request, class Handler, class Receive>
class exchange : same_cpp_abi {
 public:
  using value = std::remove_cvref_t<std::invoke_result_t<Handler&, const Request&>>;
  static constexpr bool of_any_size = std::is_same_v<value, byte_span>;
  static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<value>,
                "requests and values must be trivially copyable, since they travel as bytes");
  static constexpr std::size_t least_reply = of_any_size ? sizeof(std::uint32_t) : sizeof(value);
  static constexpr bool has_direct = requires(Handler & h, const Request& r) { h.direct(r, 0); };

  // `reply_bytes`: of a usual reply, for the choice of the route.
  exchange(Handler handler, Receive receive, const aggregate_options& options, std::size_t reply_bytes = sizeof(value))
      : handler_(std::move(handler)),
        receive_(std::move(receive)),
        reply_bytes_(reply_bytes),
        requested_(options),
        route_(route_by(options)),
        replies_(for_replies()),
        requests_(for_requests()) {
    make_outstanding();
    begin_phase();
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  void get(const Request& request, int pe, std::uint32_t index) {
    if constexpr (has_direct)
      if (direct_.open()) [[unlikely]]
        if (direct_.take(requests_.aggregation(), pe)) return receive_(index, handler_.direct(request, pe));
    if (route_.ordered) {
      requests_.template push_as<false>(request, pe);  // first: it may wait, and handle replies to earlier requests
      outstanding& to = outstanding_[static_cast<std::size_t>(pe)];
      to.indices[to.issued++ & mask_] = index;
    } else {
      requests_.push(tagged{static_cast<std::uint32_t>(shmem_my_pe()), index, request}, pe);
    }
  }
  // get() for make(i), 0 ≤ i < count, which returns a request and its PE; its index is first + i.
  template <class Make>
  void get_each(std::size_t count, std::uint32_t first, Make& make) {
    std::size_t done = 0;
    if (!route_.ordered || direct_.began())
      for (; done < count && (!route_.ordered || direct_.open()); ++done) {
        const auto& [request, pe] = make(done);
        get(request, static_cast<int>(pe), first + static_cast<std::uint32_t>(done));
      }
    outstanding* const by_pe = outstanding_.data();
    const std::uint32_t mask = mask_;
    const auto keep_index = [&](std::size_t i, int pe) {
      outstanding& to = by_pe[pe];
      to.indices[to.issued++ & mask] = first + static_cast<std::uint32_t>(done + i);
    };
    const auto rest = [&](std::size_t i) -> decltype(auto) { return make(done + i); };
    requests_.template push_each<Request>(count - done, rest, keep_index);
  }
  void advance() { detail::advance(requests_.aggregation()); }
  void done() {
    if (direct_.began())
      direct_.finish(requests_.aggregation());
    else
      finish(requests_.aggregation());
    if (route_change_due(requests_.aggregation())) [[unlikely]]
      change_route();
    begin_phase();
  }
  [[nodiscard]] Handler& handler() { return handler_; }
  // Items, and costs per item, are those of requests; buffers, bytes, hops and memory those of both directions.
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now = statistics_of(requests_.aggregation());
    const aggregate_statistics back = statistics_of(replies_.aggregation());
    const auto both = static_cast<double>(now.buffers + back.buffers);
    if (both > 0)
      now.fill = (now.fill * static_cast<double>(now.buffers) + back.fill * static_cast<double>(back.buffers)) / both;
    now.hops += of_any_size ? 0 : back.hops;  // for replies of any size that counts bytes
    now.buffers += back.buffers;
    now.bytes += back.bytes;
    now.remote_buffers += back.remote_buffers;
    now.remote_bytes += back.remote_bytes;
    now.memory_bytes += back.memory_bytes;
    now.memory_bytes += outstanding_.size() * (std::size_t{mask_} + 1) * sizeof(std::uint32_t);
    return now;
  }
  [[nodiscard]] thread_request_target thread_target() const {
    if (!route_.options.getters)
      throw std::logic_error(
          "lull::gatherer::getter(): this gatherer was created for one thread; create it with "
          "aggregate_options::getters");
    return {requests_.aggregation(), route_.ordered};
  }
  // Of replies of any size: the largest that fits into a buffer, and the bytes that travel beside each and its request.
  [[nodiscard]] std::size_t largest_reply() const {
    return max_item_bytes(replies_.aggregation()) - (route_.ordered ? 0 : 4);
  }
  [[nodiscard]] std::size_t bytes_beside_reply() const {
    return route_.ordered ? sizeof(Request) + sizeof(std::uint32_t)
                          : sizeof(tagged) + 2 * address_bytes + 2 * sizeof(std::uint32_t);
  }

 private:
  [[nodiscard]] exchange_route route_by(const aggregate_options& options) const {
    return choose_exchange_route(options, {sizeof(Request), reply_bytes_, least_reply});
  }
  [[nodiscard]] aggregation_request for_replies() {
    return {of_any_size      ? 0
            : route_.ordered ? sizeof(value)
                             : sizeof(tagged_reply),
            &receive_batch<false>,
            &receive_batch<true>,
            this,
            &route_.options,
            nullptr,
            false};
  }
  [[nodiscard]] aggregation_request for_requests() {
    return {.item_bytes = route_.ordered ? sizeof(Request) : sizeof(tagged),
            .apply = &reply_to_batch<false>,
            .apply_addressed = &reply_to_batch<true>,
            .handler = this,
            .options = &route_.options,
            .replies = replies_.aggregation(),
            .has_direct = has_direct,
            .apply_local = &handle_locally<false>,
            .apply_local_addressed = &handle_locally<true>,
            .tag_bytes = route_.ordered ? sizeof(indexed_request<Request>) - sizeof(Request) : 0,
            .detach = &detach_indices,
            .requested_options = &requested_};
  }
  // Room for the indices of all requests that can be in flight.
  void make_outstanding() {
    outstanding_.clear();
    if (!route_.ordered) return;
    // For replies of any size bytes are counted.
    const std::size_t replies = max_items_in_flight(replies_.aggregation()) / (of_any_size ? least_reply : 1);
    const std::size_t capacity = std::bit_ceil(max_items_in_flight(requests_.aggregation()) + replies);
    mask_ = static_cast<std::uint32_t>(capacity - 1);
    outstanding_.resize(static_cast<std::size_t>(shmem_n_pes()));
    for (outstanding& to : outstanding_) to.indices = std::make_unique_for_overwrite<std::uint32_t[]>(capacity);
  }
  // As channels::keep_to_best_route(), for both.
  void change_route() {
    const route_change change = proposed_route_change(requests_.aggregation(), requested_);
    requests_.close();
    replies_.close();
    const auto open_by = [&](const aggregate_options& options) {
      route_ = route_by(options);
      replies_.open(for_replies());
      requests_.open(for_requests());
    };
    try {
      open_by(change.to);
    } catch (const std::bad_alloc&) {
      if (replies_.is_open()) replies_.close();
      requests_.keep_route();
      open_by(change.from);
    }
    make_outstanding();
  }

  using tagged = tagged_request<Request>;
  struct __attribute__((packed)) tagged_reply {
    std::uint32_t index;
    std::conditional_t<of_any_size, std::uint32_t, value> reply;
  };
  // Requests to one PE that have no reply yet. The thread that issues requests and the one that handles replies write
  // here; with getters these are two threads, and use atomic operations.
  struct outstanding {
    std::unique_ptr<std::uint32_t[]> indices;  // a ring of mask_ + 1
    std::uint32_t issued = 0, completed = 0;
  };
  // The indices of the replies of one batch, in order.
  class reply_indices {
   public:
    reply_indices(exchange& of, outstanding& to)
        : to_(to),
          indices_(to.indices.get()),
          mask_(of.mask_),
          next_(to.completed),
          shared_(of.route_.options.getters) {
      if (shared_) (void)std::atomic_ref(to.issued).load(std::memory_order_acquire);  // makes the indices visible
    }
    ~reply_indices() {
      if (shared_)
        std::atomic_ref(to_.completed).store(next_, std::memory_order_release);
      else
        to_.completed = next_;
    }
    reply_indices(const reply_indices&) = delete;
    reply_indices& operator=(const reply_indices&) = delete;
    std::uint32_t next() { return indices_[next_++ & mask_]; }

   private:
    outstanding& to_;
    const std::uint32_t* indices_;
    std::uint32_t mask_, next_;
    bool shared_;
  };

  void begin_phase() {
    if constexpr (has_direct) direct_.begin_phase(requests_.aggregation());
  }

  template <bool Addressed>
  void reply_to_all(const batch& requests) {
    using codec = item_codec<Addressed>;
    if (!route_.ordered) {
      codec::template each<tagged>(requests, [&](const tagged& one) {
        const Request request = one.request;
        if constexpr (of_any_size)
          reply_with_bytes(handler_(request), one.index, static_cast<int>(one.origin));
        else
          replies_.push(tagged_reply{one.index, handler_(request)}, static_cast<int>(one.origin));
      });
    } else if constexpr (of_any_size) {
      codec::template each<Request>(requests,
                                    [&](const Request& one) { reply_with_bytes(handler_(one), 0, requests.from); });
    } else {
      const std::byte* const items = requests.items;
      replies_.template push_run<value>(requests.count, requests.from, [&](std::size_t i) -> value {
        return handler_(codec::template get<Request>(items, i));
      });
    }
  }
  void reply_with_bytes(byte_span reply, std::uint32_t index, int pe) {
    const std::size_t head = route_.ordered ? 0 : sizeof index;
    replies_.push_bytes(head + reply.size(), pe, [&](std::byte* to) {
      if (head != 0) write(to, index);
      if (!reply.empty()) std::memcpy(to + head, reply.data(), reply.size());
    });
  }
  template <bool Addressed>
  void receive_all(const batch& replies) {
    using codec = item_codec<Addressed>;
    if (route_.ordered) {
      reply_indices indices(*this, outstanding_[static_cast<std::size_t>(replies.from)]);
      if constexpr (of_any_size)
        codec::each_of_any_size(replies, [&](byte_span bytes) { receive_(indices.next(), bytes); });
      else
        codec::template each<value>(replies, [&](const value& one) { receive_(indices.next(), one); });
    } else if constexpr (of_any_size) {
      codec::each_of_any_size(replies, [&](byte_span bytes) {
        receive_(read<std::uint32_t>(bytes.data()), bytes.subspan(sizeof(std::uint32_t)));
      });
    } else {
      codec::template each<tagged_reply>(replies, [&](const tagged_reply& one) {
        const value result = one.reply;
        receive_(one.index, result);
      });
    }
  }
  // Requests of this PE's threads to their own PE: the values need not travel.
  template <bool Addressed>
  static void handle_locally(void* self, const batch& requests) {
    exchange& me = *static_cast<exchange*>(self);
    const auto handle = [&](const auto& one) {
      const Request request = one.request;
      me.receive_(one.index, me.handler_(request));
    };
    if (me.route_.ordered)
      item_codec<Addressed>::template each<indexed_request<Request>>(requests, handle);
    else
      item_codec<Addressed>::template each<tagged>(requests, handle);
  }
  // Called for one thread at a time, whose requests are the next for `pe`.
  static void detach_indices(void* self, const std::byte* requests, std::size_t count, int pe, std::byte* to) {
    exchange& me = *static_cast<exchange*>(self);
    outstanding& of_pe = me.outstanding_[static_cast<std::size_t>(pe)];
    (void)std::atomic_ref(of_pe.completed).load(std::memory_order_acquire);  // indices overwritten here have been read
    std::uint32_t next = of_pe.issued;
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = read<indexed_request<Request>>(requests + i * sizeof(indexed_request<Request>));
      of_pe.indices[next++ & me.mask_] = one.index;
      write<Request>(to + i * sizeof(Request), one.request);
    }
    std::atomic_ref(of_pe.issued).store(next, std::memory_order_release);
  }
  template <bool Addressed>
  static void reply_to_batch(void* self, const batch& requests) {
    static_cast<exchange*>(self)->template reply_to_all<Addressed>(requests);
  }
  template <bool Addressed>
  static void receive_batch(void* self, const batch& replies) {
    static_cast<exchange*>(self)->template receive_all<Addressed>(replies);
  }

  Handler handler_;
  Receive receive_;
  direct_items direct_;
  std::size_t reply_bytes_;
  aggregate_options requested_;
  exchange_route route_;
  std::uint32_t mask_ = 0;
  std::vector<outstanding> outstanding_;  // by PE
  channels replies_, requests_;           // constructed in this order: requests finish with their replies
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
