#include "aggregate/hop.hpp"

#include <algorithm>

namespace lull::aggregate {

bool hop::unload(channel_reading& in, pe_id from, const std::byte* buffer) {
  const auto [header, items] = read_buffer(buffer, items_.stride, unpacked_.data());
  if (in.taken != header.count) {
    in.taken += sink_.take(sink_.self, {items + items_.bytes(in.taken), header.count - in.taken, from.index()});
    in.refused = in.taken != header.count;
    if (in.refused) return false;
  }
  in.taken = 0;
  if (header.last) {
    most_pushed_ = std::max(most_pushed_, header.pushed);
    in.finished = true;
  }
  ++in.read;
  return true;
}

}  // namespace lull::aggregate
