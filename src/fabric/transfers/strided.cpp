// Transfers of non-contiguous blocks. In shared memory the blocks are copied one by one; to another node they travel
// packed, in as few messages as possible, and its process puts them in place.
#include <algorithm>
#include <mutex>

#include "fabric/transfers/transfers.hpp"

namespace lull::fabric {
namespace {

// The two descriptors have the same blocks, perhaps in different places. Calls visit(offset there, offset here) for
// each.
template <class Visit>
void for_pairs(const block_descriptor& there, const block_descriptor& here, Visit&& visit) {
  constexpr std::size_t batch = 64;
  std::array<std::int64_t, batch> offsets;
  const std::size_t blocks = there.blocks();
  for (std::size_t first = 0; first < blocks; first += batch) {
    const std::size_t count = std::min(batch, blocks - first);
    std::size_t i = 0;
    here.for_blocks(first, count, [&](std::int64_t offset) { offsets[i++] = offset; });
    i = 0;
    there.for_blocks(first, count, [&](std::int64_t offset) { visit(offset, offsets[i++]); });
  }
}

}  // namespace

void transfers::put_strided(context& c, void* target, const block_descriptor& there, const void* source,
                            const block_descriptor& here, pe_id pe) {
  auto* const at = static_cast<std::byte*>(memory_.direct(target, pe));
  if (!at) return send_strided(c, target, there, source, here, nullptr, pe);
  const std::size_t bytes = there.block_bytes();
  for_pairs(there, here, [&](std::int64_t to, std::int64_t from) {
    deliver(at + to, static_cast<const std::byte*>(source) + from, bytes);
  });
  memory_.bell_of(pe).ring_for_store();
}

void transfers::accumulate(context& c, void* target, const block_descriptor& there, const void* source,
                           const block_descriptor& here, const axpy& how, pe_id pe) {
  auto* const at = static_cast<std::byte*>(memory_.direct(target, pe));
  if (!at) return send_strided(c, target, there, source, here, &how, pe);
  {
    const std::lock_guard hold(memory_.header_of(pe).accumulating);
    for_pairs(there, here, [&](std::int64_t to, std::int64_t from) {
      apply_axpy(how, at + to, static_cast<const std::byte*>(source) + from, there.block_bytes());
    });
  }
  memory_.bell_of(pe).ring_for_store();
}

void transfers::get_strided(context& c, void* destination, const block_descriptor& here, const void* source,
                            const block_descriptor& there, pe_id pe) {
  const std::size_t bytes = there.block_bytes();
  auto* const into = static_cast<std::byte*>(destination);
  if (const auto* const at = static_cast<const std::byte*>(memory_.direct(source, pe))) {
    for_pairs(there, here, [&](std::int64_t from, std::int64_t to) { std::memcpy(into + to, at + from, bytes); });
    return;
  }
  if (bytes >= protocol::message_bytes) {
    for_pairs(there, here, [&](std::int64_t from, std::int64_t to) {
      get_nbi(c, into + to, static_cast<const std::byte*>(source) + from, bytes, pe);
    });
    return quiet(c);
  }
  const std::size_t per_message = protocol::message_bytes / std::max<std::size_t>(bytes, 1);
  const std::size_t blocks = there.blocks();
  for (std::size_t first = 0; first < blocks; first += per_message) {
    const std::size_t count = std::min(per_message, blocks - first);
    reply answer{.destination = into, .bytes = count * bytes, .blocks = &here, .first = first, .count = count};
    remote_->gather(pe, memory_.offset_of(source), there, first, count, answer);
    wait_for(answer, {wait::operation::strided, answer.bytes, pe.index(), c.policy, true});
  }
}

void transfers::send_strided(context& c, void* target, const block_descriptor& there, const void* source,
                             const block_descriptor& here, const axpy* how, pe_id pe) {
  block_descriptor small = there, from = here;
  const std::size_t bytes = small.block_bytes();
  if (bytes == 0) return;
  if (bytes > protocol::message_bytes && !how) {  // packing would gain nothing
    for_pairs(there, here, [&](std::int64_t to, std::int64_t at) {
      put(c, static_cast<std::byte*>(target) + to, static_cast<const std::byte*>(source) + at, bytes, pe, true);
    });
    return;
  }
  if (bytes > protocol::message_bytes) {  // an accumulate must not be one huge message either: the blocks are split
    for_pairs(there, here, [&](std::int64_t to, std::int64_t at) {
      for (std::size_t done = 0; done < bytes; done += protocol::message_bytes) {
        const std::size_t part = std::min(protocol::message_bytes, bytes - done);
        block_descriptor block{};
        block.counts[0] = part;
        send_strided(c, static_cast<std::byte*>(target) + to + done, block,
                     static_cast<const std::byte*>(source) + at + done, block, how, pe);
      }
    });
    return;
  }
  const std::size_t per_message = protocol::message_bytes / bytes;
  const std::size_t blocks = small.blocks();
  for (std::size_t first = 0; first < blocks; first += per_message) {
    const std::size_t count = std::min(per_message, blocks - first);
    auto message = protocol::room_for_blocks(small, count * bytes);
    from.gather(message.packed(), source, first, count);
    wait_for_room(c, wait::operation::strided, pe);
    unconfirmed_.add(count * bytes, pe);
    remote_->scatter(c.outstanding_, pe, memory_.offset_of(target), first, count, std::move(message), how);
  }
}

}  // namespace lull::fabric
