// An exchange of messages with partners, as in many applications: posts all receives, then sends all messages, then
// waits for all. It is a part of a stream that needs no coroutine: co_yield exchange(partners, tag).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

// Bytes sent to a rank and received from it; 0: no message.
struct partner {
  std::uint32_t rank;
  std::uint64_t sent;
  std::uint64_t received;
};

class exchange {
 public:
  enum class sends : std::uint8_t { not_blocking, blocking };  // blocking sends need no wait at the end

  // Uses requests from 0 on. `partners` must outlive the exchange.
  exchange(const std::vector<partner>& partners, std::uint32_t tag, sends how = sends::not_blocking)
      : with_(partners), others_(static_cast<std::uint32_t>(partners.size())), how_(how) {
    now_.tag = tag;
  }

  // See stream::next().
  [[nodiscard]] const operation* next() {
    while (true) {
      if (i_ == others_) {
        if (step_ == step::wait_to_send || (step_ == step::wait_to_receive && how_ == sends::blocking)) return nullptr;
        step_ = static_cast<step>(static_cast<unsigned>(step_) + 1);
        i_ = 0;
        continue;
      }
      const bool receives = step_ == step::receive || step_ == step::wait_to_receive;
      const bool waits = step_ >= step::wait_to_receive;
      const std::uint32_t number = i_++;
      const partner& other = with_[number];
      now_.bytes = receives ? other.received : other.sent;
      if (now_.bytes == 0) continue;
      now_.what = waits ? operation::kind::wait : receives ? operation::kind::receive : operation::kind::send;
      now_.peer = other.rank;
      now_.request = receives ? number : how_ == sends::blocking ? no_request : others_ + number;
      return &now_;
    }
  }

 private:
  enum class step : std::uint8_t { receive, send, wait_to_receive, wait_to_send };

  const std::vector<partner>& with_;
  operation now_;
  std::uint32_t others_;
  std::uint32_t i_ = 0;
  sends how_;
  step step_ = step::receive;
};

}  // namespace lull::netsim
