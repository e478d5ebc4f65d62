// Bodies of lull::gatherer.
#pragma once
#include <lull/gatherer.hpp>

#include <utility>

namespace lull {
inline namespace cpp_abi_1 {

template <class Request, class Handler>
inline gatherer<Request, Handler>::gatherer(items_of<Request>, Handler handler, const aggregate_options& options)
    : exchange_(std::move(handler), {&values_}, options) {}

template <class Request, class Handler>
inline void gatherer<Request, Handler>::into(std::span<value> values) {
  values_ = values.data();
  next_ = 0;
}

template <class Request, class Handler>
inline void gatherer<Request, Handler>::get(const Request& request, int pe) {
  exchange_.get(request, pe, next_++);
}

template <class Request, class Handler>
template <class Make>
inline void gatherer<Request, Handler>::get_each(std::size_t count, Make&& make) {
  exchange_.get_each(count, next_, make);
  next_ += static_cast<std::uint32_t>(count);
}

template <class Request, class Handler>
inline lull::getter<Request> gatherer<Request, Handler>::getter(std::size_t first) {
  return lull::getter<Request>(exchange_.thread_target(), static_cast<std::uint32_t>(first));
}

template <class Request, class Handler>
inline void gatherer<Request, Handler>::advance() {
  exchange_.advance();
}

template <class Request, class Handler>
inline void gatherer<Request, Handler>::done() {
  exchange_.done();
}

template <class Request, class Handler>
inline aggregate_statistics gatherer<Request, Handler>::statistics() const {
  return exchange_.statistics();
}

}  // namespace cpp_abi_1
}  // namespace lull
