// A sequence of operations made as it is asked for: a coroutine that co_yields them.
//
//   stream ring(std::uint32_t rank, std::uint32_t size) {
//     co_yield does::send((rank + 1) % size, 8, 0, 0);
//     co_yield does::receive((rank + size - 1) % size, 8, 0);
//     co_yield does::wait(0);
//   }
//
// A stream is taken from one end to the other once, by one thread. An exception inside it comes out of next().
// Arguments that are references must live as long as the stream.
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

class stream {
 public:
  struct promise_type {
    const operation* current = nullptr;  // of the coroutine, which stands where it yields it
    std::exception_ptr failed;

    stream get_return_object() { return stream(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const operation& o) noexcept {
      current = &o;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failed = std::current_exception(); }
  };

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

  // The next operation, valid until the one after it; nullptr: it is over.
  [[nodiscard]] const operation* next() {
    if (!at_ || at_.done()) return nullptr;
    at_.resume();
    if (!at_.done()) [[likely]]
      return at_.promise().current;
    if (at_.promise().failed) std::rethrow_exception(std::exchange(at_.promise().failed, nullptr));
    return nullptr;
  }

 private:
  explicit stream(std::coroutine_handle<promise_type> at) : at_(at) {}
  std::coroutine_handle<promise_type> at_;
};

}  // namespace lull::netsim
