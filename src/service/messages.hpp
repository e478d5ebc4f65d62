// The messages of the service: one JSON object each, over SOCK_SEQPACKET. docs/reference/service-protocol.md describes
// them for those who write clients.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "account/attribution.hpp"
#include "service/publication.hpp"

namespace lull::service {

inline constexpr int protocol_version = 1;
inline constexpr std::size_t longest_request = 4096;

// What a message may ask for. `open`, `used`, `figures` and `close` come over the socket of the scheduler, the others over that of
// the users.
enum class verb { channels, counters, mine, node, open, used, figures, close };

struct request {
  verb ask = verb::channels;
  account::opening account;              // of open; of the others, its key, of used and close also its names
  std::optional<std::int64_t> time_ns;   // CLOCK_MONOTONIC at which it was sent; a message may wait for the service
  std::optional<std::int64_t> usage_us;  // CPU time of its cgroup, of used and close
};

// The request in a message, or the mistake in it.
struct parsed {
  std::optional<request> wanted;
  std::string mistake;
};
[[nodiscard]] parsed parse(std::string_view message);

[[nodiscard]] std::string refusal(std::string_view reason);
[[nodiscard]] std::string mistake(std::string_view what);
[[nodiscard]] std::string done();
[[nodiscard]] std::string text_of(const published& p);
[[nodiscard]] std::string text_of(const account::figures& f);

}  // namespace lull::service
