// A payload that its sender has only announced: fetched into the caller's memory or into a temporary buffer.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread_sanitizer.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

// Calls then(where) when the payload has arrived, inside progress() or at once. If `destination` is null, a buffer that
// lives until then() returns holds it.
template <class Then>
void fetch_payload(transport::transport& from, const transport::incoming& payload, std::byte* destination, Then then) {
  struct pending final : transport::fetching {
    explicit pending(Then&& t) : then(std::move(t)) {}
    void fetched() override {
      const std::unique_ptr<pending> end(this);
      tsan_acquire();
      then(static_cast<const std::byte*>(where));
      tsan_release();
    }
    void lost() override { const std::unique_ptr<pending> end(this); }  // the job is about to end
    Then then;
    std::vector<std::byte> buffer;
    std::byte* where = nullptr;
  };
  auto one = std::make_unique<pending>(std::move(then));
  if (!destination) one->buffer.resize(payload.bytes);
  one->where = destination ? destination : one->buffer.data();
  pending& started = *one.release();  // fetched() ends it
  from.fetch(payload, started.where, started);
}

}  // namespace lull::fabric
