#include "fabric/protocol/requests.hpp"

#include "base/received_bytes.hpp"
#include "fabric/protocol/late_payload.hpp"
#include "fabric/protocol/messages.hpp"

namespace lull::fabric {

reply& requests::new_reply(outstanding& of, pe_id by, void* destination, std::size_t bytes) {
  reply& answer = replies_.take();
  answer.destination = destination;
  answer.bytes = bytes;
  answer.of = &of;
  answer.by = by;
  completion_.expect_reply(of, by);
  return answer;
}

void requests::answered(reply& answer) {
  replied_ = true;
  const bool others_may_wait = answer.of || memory_.contains(answer.destination);
  if (outstanding* const of = answer.of) {
    const pe_id by = answer.by;
    replies_.give_back(answer);
    completion_.replied(*of, by);
  } else if (answer.done.complete() && hooks_.sleeper_answered) {  // the caller's reply may be gone afterwards
    hooks_.sleeper_answered();
  }
  if (others_may_wait) hooks_.memory_changed();
}

void requests::received_reply(transport::transport& from, std::span<const std::byte> header,
                              const transport::incoming& payload) {
  const auto token = read_header<reply_header>(header.data()).token;
  auto& answer = *reinterpret_cast<reply*>(token);  // NOLINT(performance-no-int-to-ptr)
  const auto unpack = [&answer, this](const std::byte* packed) {
    answer.blocks->scatter(answer.destination, packed, answer.first, answer.count);
    answered(answer);
  };
  if (payload.announced && answer.blocks) {
    fetch_payload(from, payload, nullptr, unpack);
  } else if (payload.announced) {
    fetch_payload(from, payload, static_cast<std::byte*>(answer.destination),
                  [&answer, this](const std::byte*) { answered(answer); });
  } else if (answer.blocks) {
    unpack(static_cast<const std::byte*>(payload.data));
  } else {
    copy_bytes(answer.destination, payload.data, payload.bytes);
    answered(answer);
  }
}

void requests::received_ack(std::span<const std::byte> header) {
  const auto ack = read_header<acknowledge_header>(header.data());
  completion_.acknowledged(pe_id{ack.sent.from}, ack.count);
  hooks_.memory_changed();
}

}  // namespace lull::fabric
