// Requests that return values, aggregated in both directions.
//
//     lull::gatherer words{lull::items_of<std::uint64_t>{}, [&](std::uint64_t word) { return table[word]; }};
//     words.into(values);                                  // a std::span: the k-th get fills values[k]
//     for (std::uint64_t i : indices) words.get(i % 1000, static_cast<int>(i / 1000));
//     words.done();
//
// Contract. What <lull/aggregate.hpp> says of collective calls, handlers, memory, routes and errors holds here too. The
// handler runs with the request on the PE asked and returns the value, a trivially copyable type of one size; direct(),
// if the handler has it, returns the value that it read from that PE. The caller owns the memory of the values and must
// not touch it until done() has returned.
//
// Where the route has one hop between PEs, a request and its value travel without further bytes; on other routes a
// request carries 8 bytes more and a value 4.
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/exchange.hpp>
#include <lull/pusher.hpp>

#include <type_traits>

namespace lull {
inline namespace cpp_abi_1 {

// Request is trivially copyable. Handler is called with a const Request&.
template <class Request, class Handler>
class gatherer {
 public:
  using value = std::remove_cvref_t<std::invoke_result_t<Handler&, const Request&>>;

  // Collective.
  gatherer(items_of<Request>, Handler handler, const aggregate_options& options = {});
  gatherer(const gatherer&) = delete;
  gatherer& operator=(const gatherer&) = delete;

  // Where the values of this phase go, at most 2^32. They are there when done() has returned.
  void into(std::span<value> values);

  // Requests handler(request) of `pe`; the k-th call since into() fills values[k].
  void get(const Request& request, int pe);

  // get() for make(0) to make(count - 1), each called once and in order; faster than single gets. make(i) returns
  // something that decomposes into a request and its PE.
  template <class Make>
  void get_each(std::size_t count, Make&& make);

  // For one of several threads of this PE; its k-th get fills values[first + k]. std::logic_error unless made with
  // aggregate_options::getters.
  [[nodiscard]] lull::getter<Request> getter(std::size_t first);

  // As in lull::aggregator.
  void advance();
  void done();

  // Items, and costs per item, are those of requests; buffers, bytes, hops and memory those of both directions.
  [[nodiscard]] aggregate_statistics statistics() const;
  [[nodiscard]] Handler& handler() { return exchange_.handler(); }

 private:
  static_assert(!std::is_same_v<value, byte_span>, "a gatherer's values must have a fixed size");
  struct store {
    value* const* values;
    void operator()(std::uint32_t index, const value& received) const { (*values)[index] = received; }
  };

  value* values_ = nullptr;
  std::uint32_t next_ = 0;  // index of the value that the next get fills
  detail::exchange<Request, Handler, store> exchange_;
};

}  // namespace cpp_abi_1
}  // namespace lull

#include <lull/detail/gatherer.hpp>
