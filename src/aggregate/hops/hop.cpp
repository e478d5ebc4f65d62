#include "aggregate/hops/hop.hpp"

#include <optional>

namespace lull::aggregate {

bool hop::unload(channel_reading& in, pe_id from, const std::byte* buffer) {
  std::optional<unpacking_memory::lease> scratch;
  if (is_packed(buffer)) scratch.emplace(unpacked_);
  const auto [header, items] = read_buffer(buffer, items_.stride, scratch ? scratch->memory() : nullptr);
  if (in.taken != header.count) {
    in.taken += sink_.take(sink_.self, {items + items_.bytes(in.taken), header.count - in.taken, from.index()});
    in.refused = in.taken != header.count;
    if (in.refused) return false;
  }
  in.taken = 0;
  if (header.last) {
    std::uint64_t most = most_pushed_.load(std::memory_order_relaxed);
    while (most < header.pushed &&
           !most_pushed_.compare_exchange_weak(most, header.pushed, std::memory_order_relaxed)) {
    }
    in.finished = true;
  }
  in.read = in.read + 1;
  return true;
}

}  // namespace lull::aggregate
