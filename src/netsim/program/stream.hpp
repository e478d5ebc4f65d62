// A sequence of operations that is generated on demand: a coroutine that co_yields them.
//
//   stream ring(std::uint32_t rank, std::uint32_t size) {
//     co_yield does::send((rank + 1) % size, 8, 0, 0);
//     co_yield does::receive((rank + size - 1) % size, 8, 0);
//     co_yield does::wait(0);
//   }
//
// A stream can be part of another: co_yield ring(rank, size). Only the innermost one is then resumed, at any depth. An
// exchange (exchange.hpp) can be a part, too; no coroutine is resumed until it is over.
// (Do not write co_yield a ? b() : c(): GCC 12 destroys the one that was not created.)
//
// One thread consumes a stream once from begin to end, or another stream co_yields it before anything was consumed. An
// exception inside it propagates from next(), or from the co_yield. Arguments that are references must live as long as
// the stream.
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

#include "netsim/program/exchange.hpp"
#include "netsim/program/operation.hpp"

namespace lull::netsim {

class stream {
 public:
  struct promise_type;

  stream() = default;
  stream(stream&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    if (at_) at_.destroy();
  }

  // The next operation, valid until the following call; nullptr at the end.
  [[nodiscard]] const operation* next();

 private:
  using handle = std::coroutine_handle<promise_type>;
  class part;
  struct exchange_part;
  struct end_of_part;
  explicit stream(handle at) : at_(at) {}
  handle at_;
};

struct stream::promise_type {
  // Only the outermost stream uses these three:
  const operation* current = nullptr;  // of the innermost stream, located where that yields it
  exchange* in_turn = nullptr;         // the current exchange of the innermost stream, if any
  handle innermost;

  promise_type* outermost = this;
  handle goes_on;  // resumed when this stream is over
  std::exception_ptr failed;

  stream get_return_object() {
    innermost = handle::from_promise(*this);
    return stream(innermost);
  }
  static std::suspend_always initial_suspend() noexcept { return {}; }
  static end_of_part final_suspend() noexcept;
  std::suspend_always yield_value(const operation& o) noexcept {
    outermost->current = &o;
    return {};
  }
  static part yield_value(stream&& inner) noexcept;
  exchange_part yield_value(exchange&& inner) noexcept;  // not moved: stays in the coroutine
  void return_void() noexcept {}
  void unhandled_exception() noexcept { failed = std::current_exception(); }
};

// Waits for all of another stream.
class stream::part {
 public:
  explicit part(stream&& inner) noexcept : inner_(std::move(inner)) {}

  [[nodiscard]] bool await_ready() const noexcept { return !inner_.at_; }
  [[nodiscard]] handle await_suspend(handle outer) const noexcept {
    promise_type& own = inner_.at_.promise();
    own.outermost = outer.promise().outermost;
    own.goes_on = outer;
    own.outermost->innermost = inner_.at_;
    return inner_.at_;
  }
  void await_resume() const {
    if (inner_.at_ && inner_.at_.promise().failed) std::rethrow_exception(inner_.at_.promise().failed);
  }

 private:
  stream inner_;
};

// Waits for all of an exchange, which stays in the coroutine until its end.
struct stream::exchange_part {
  bool nothing;
  [[nodiscard]] bool await_ready() const noexcept { return nothing; }
  static void await_suspend(handle /*outer*/) noexcept {}
  static void await_resume() noexcept {}
};

struct stream::end_of_part {
  static bool await_ready() noexcept { return false; }
  static std::coroutine_handle<> await_suspend(handle over) noexcept {
    const promise_type& own = over.promise();
    if (!own.goes_on) return std::noop_coroutine();
    own.outermost->innermost = own.goes_on;
    return own.goes_on;
  }
  static void await_resume() noexcept {}
};

inline stream::end_of_part stream::promise_type::final_suspend() noexcept { return {}; }

inline stream::part stream::promise_type::yield_value(stream&& inner) noexcept { return part(std::move(inner)); }

inline stream::exchange_part stream::promise_type::yield_value(exchange&& inner) noexcept {
  outermost->current = inner.next();
  if (outermost->current == nullptr) return {.nothing = true};
  outermost->in_turn = &inner;
  return {.nothing = false};
}

inline const operation* stream::next() {
  if (!at_ || at_.done()) return nullptr;
  promise_type& own = at_.promise();
  if (own.in_turn != nullptr) {
    if (const operation* o = own.in_turn->next()) return o;
    own.in_turn = nullptr;
  }
  own.innermost.resume();
  if (!at_.done()) [[likely]]
    return own.current;
  if (own.failed) std::rethrow_exception(std::exchange(own.failed, nullptr));
  return nullptr;
}

}  // namespace lull::netsim
