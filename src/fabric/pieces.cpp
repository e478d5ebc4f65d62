// Transfers of non-contiguous blocks. In shared memory the pieces are copied one by one; to another node they travel
// packed, as few messages as possible, and its process puts them in place.
#include <algorithm>
#include <mutex>

#include "fabric/world.hpp"

namespace lull::fabric {
namespace {

// Both shapes have the same pieces, perhaps in different places: calls visit(offset there, offset here) for each.
template <class Visit>
void for_pairs(const shape& there, const shape& here, Visit&& visit) {
  constexpr std::size_t batch = 64;
  std::array<std::int64_t, batch> offsets;
  const std::size_t pieces = there.pieces();
  for (std::size_t first = 0; first < pieces; first += batch) {
    const std::size_t count = std::min(batch, pieces - first);
    std::size_t i = 0;
    here.for_pieces(first, count, [&](std::int64_t offset) { offsets[i++] = offset; });
    i = 0;
    there.for_pieces(first, count, [&](std::int64_t offset) { visit(offset, offsets[i++]); });
  }
}

}  // namespace

void world::put_pieces(context& c, void* target, const shape& there, const void* source, const shape& here, pe_id pe) {
  auto* const at = static_cast<std::byte*>(direct(target, pe));
  if (!at) return send_pieces(c, target, there, source, here, nullptr, pe);
  const std::size_t bytes = there.piece_bytes();
  for_pairs(there, here, [&](std::int64_t to, std::int64_t from) {
    deliver(at + to, static_cast<const std::byte*>(source) + from, bytes);
  });
  bell_of(pe).ring_for_store();
}

void world::accumulate(context& c, void* target, const shape& there, const void* source, const shape& here,
                       const scaled& how, pe_id pe) {
  auto* const at = static_cast<std::byte*>(direct(target, pe));
  if (!at) return send_pieces(c, target, there, source, here, &how, pe);
  {
    const std::lock_guard hold(headers_[static_cast<std::size_t>(pe.index())]->accumulating);
    for_pairs(there, here, [&](std::int64_t to, std::int64_t from) {
      add_scaled(how, at + to, static_cast<const std::byte*>(source) + from, there.piece_bytes());
    });
  }
  bell_of(pe).ring_for_store();
}

void world::get_pieces(context& c, void* destination, const shape& here, const void* source, const shape& there,
                       pe_id pe) {
  const std::size_t bytes = there.piece_bytes();
  auto* const into = static_cast<std::byte*>(destination);
  if (const auto* const at = static_cast<const std::byte*>(direct(source, pe))) {
    for_pairs(there, here, [&](std::int64_t from, std::int64_t to) { std::memcpy(into + to, at + from, bytes); });
    return;
  }
  if (bytes >= remote::message_bytes) {
    for_pairs(there, here, [&](std::int64_t from, std::int64_t to) {
      get_nbi(c, into + to, static_cast<const std::byte*>(source) + from, bytes, pe);
    });
    return quiet(c);
  }
  const std::size_t per_message = remote::message_bytes / std::max<std::size_t>(bytes, 1);
  const std::size_t pieces = there.pieces();
  for (std::size_t first = 0; first < pieces; first += per_message) {
    const std::size_t count = std::min(per_message, pieces - first);
    reply answer{.destination = into, .bytes = count * bytes, .pieces = &here, .first = first, .count = count};
    remote_->gather(pe, offset_of(source), there, first, count, answer);
    wait().until({operation::strided, answer.bytes, pe.index(), c.policy, true},
                 [&] { return answer.done.load(std::memory_order_acquire); });
  }
}

void world::send_pieces(context& c, void* target, const shape& there, const void* source, const shape& here,
                        const scaled* how, pe_id pe) {
  shape small = there, from = here;
  const std::size_t bytes = small.piece_bytes();
  if (bytes == 0) return;
  if (bytes > remote::message_bytes && !how) {  // nothing to gain by packing
    for_pairs(there, here, [&](std::int64_t to, std::int64_t at) {
      put(c, static_cast<std::byte*>(target) + to, static_cast<const std::byte*>(source) + at, bytes, pe, true);
    });
    return;
  }
  if (bytes > remote::message_bytes) {  // an accumulate must not be one huge message either: cut the pieces
    for_pairs(there, here, [&](std::int64_t to, std::int64_t at) {
      for (std::size_t done = 0; done < bytes; done += remote::message_bytes) {
        const std::size_t part = std::min(remote::message_bytes, bytes - done);
        shape piece{};
        piece.counts[0] = part;
        send_pieces(c, static_cast<std::byte*>(target) + to + done, piece,
                    static_cast<const std::byte*>(source) + at + done, piece, how, pe);
      }
    });
    return;
  }
  const std::size_t per_message = remote::message_bytes / bytes;
  const std::size_t pieces = small.pieces();
  for (std::size_t first = 0; first < pieces; first += per_message) {
    const std::size_t count = std::min(per_message, pieces - first);
    auto message = remote::room_for_pieces(small, count * bytes);
    from.gather(message.packed(), source, first, count);
    wait_for_room(c, pe);
    unconfirmed_.add(count * bytes, pe);
    remote_->scatter(c.book_, pe, offset_of(target), first, count, std::move(message), how);
  }
}

}  // namespace lull::fabric
