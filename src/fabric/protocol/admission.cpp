#include "fabric/protocol/admission.hpp"

#include <cstdio>

#include "transport/secret.hpp"

namespace lull::fabric {

admission::admission(pe_id me, int pes)
    : me_(me), my_key_(draw_secret("draw a key for this PE")), keys_(static_cast<std::size_t>(pes)) {}

bool admission::admits(unsigned kind, std::span<const std::byte> header) {
  if (kind < message_kinds && header.size() >= header_bytes(static_cast<message_kind>(kind))) [[likely]] {
    const auto sent = read_header<envelope>(header.data());
    if (sent.key == my_key_ && sent.from >= 0 && static_cast<std::size_t>(sent.from) < keys_.size()) [[likely]]
      return true;
  }
  if (refused_++ == 0)
    std::fprintf(stderr, "lull: PE %d: refused a message from outside this job; further ones are refused silently\n",
                 me_.index());
  return false;
}

}  // namespace lull::fabric
