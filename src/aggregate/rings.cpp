#include "aggregate/rings.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "shmem/current.hpp"

namespace lull::detail {
namespace {

constexpr std::size_t smallest_slot = 512;

std::uint64_t load(const std::uint64_t& counter) {
  return std::atomic_ref(const_cast<std::uint64_t&>(counter)).load(std::memory_order_acquire);
}
void store(std::uint64_t& counter, std::uint64_t value) {
  std::atomic_ref(counter).store(value, std::memory_order_release);
}

}  // namespace

rings::rings(fabric::world& world, std::size_t item_bytes, apply_batch apply, void* handler)
    : world_(world),
      apply_(apply),
      handler_(handler),
      item_bytes_(item_bytes),
      slot_bytes_(setting_size("LULL_AGGREGATE_SLOT")),
      slots_(static_cast<std::size_t>(setting_integer("LULL_AGGREGATE_SLOTS"))) {
  const auto pes = static_cast<std::size_t>(world.pes());
  // The slots being written, one per PE, should stay in the core's own cache: with many PEs they become smaller.
  const std::size_t share = this_topology().l2_bytes / 2 / pes;
  slot_bytes_ = std::min(slot_bytes_, std::max(smallest_slot, std::bit_floor(share)));
  slot_bytes_ = std::max(slot_bytes_, sizeof(slot_header) + item_bytes_);
  slot_bytes_ = (slot_bytes_ + 63) / 64 * 64;
  items_per_slot_ = (slot_bytes_ - sizeof(slot_header)) / item_bytes_;

  incoming_ = static_cast<std::byte*>(world_.allocate(ring_bytes() * pes));
  published_ = static_cast<line*>(world_.allocate(sizeof(line) * pes));
  consumed_ = static_cast<line*>(world_.allocate(sizeof(line) * pes));
  if (!incoming_ || !published_ || !consumed_) {
    release_all();
    throw std::bad_alloc();
  }
  std::fill_n(published_, pes, line{0});
  std::fill_n(consumed_, pes, line{0});
  world_.everybody().sync();  // the counters are zero everywhere

  cursors_.resize(pes);
  to_.resize(pes);
  from_.resize(pes);
  std::size_t remote = 0;
  for (std::size_t pe = 0; pe < pes; ++pe) remote += world_.places().shares_memory(pe_id{static_cast<int>(pe)}) ? 0 : 1;
  staging_.resize(remote * ring_bytes());
  std::byte* next_staging = staging_.data();
  const auto mine = static_cast<std::size_t>(world_.me().index());
  for (std::size_t i = 0; i < pes; ++i) {
    const pe_id pe{static_cast<int>(i)};
    if (world_.places().shares_memory(pe)) {
      to_[i].slots = static_cast<std::byte*>(world_.direct(incoming_ + mine * ring_bytes(), pe));
      to_[i].published = static_cast<line*>(world_.direct(published_ + mine, pe));
      from_[i].consumed = static_cast<line*>(world_.direct(consumed_ + mine, pe));
    } else {
      to_[i].slots = next_staging;
      next_staging += ring_bytes();
    }
  }
}

rings::~rings() {
  world_.quiet(traffic_);
  world_.everybody().sync();  // nobody sends into memory that is given back
  release_all();
}

void rings::release_all() {
  for (void* const piece :
       {static_cast<void*>(incoming_), static_cast<void*>(published_), static_cast<void*>(consumed_)})
    if (piece) world_.release(piece);
}

std::byte* rings::slot_of(int pe) const {
  const to_pe& to = to_[static_cast<std::size_t>(pe)];
  return to.slots + to.sent % slots_ * slot_bytes_;
}

bool rings::room(int pe) const {
  const auto i = static_cast<std::size_t>(pe);
  return to_[i].sent - load(consumed_[i].value) < slots_;
}

bool rings::arrived(int pe) const {
  const auto i = static_cast<std::size_t>(pe);
  return !from_[i].finished && load(published_[i].value) != from_[i].read;
}

bool rings::anything_arrived() const {
  for (int pe = 0; pe < world_.pes(); ++pe)
    if (arrived(pe)) return true;
  return false;
}

void rings::open_slot(int pe) {
  while (!room(pe)) {
    if (!consume()) world_.wait().until({fabric::operation::aggregate}, [&] { return room(pe) || anything_arrived(); });
  }
  const auto i = static_cast<std::size_t>(pe);
  std::byte* const items = slot_of(pe) + sizeof(slot_header);
  cursors_[i] = {items, items + items_per_slot_ * item_bytes_};
  to_[i].open = true;
}

void rings::send_slot(int pe, bool last) {
  const auto i = static_cast<std::size_t>(pe);
  to_pe& to = to_[i];
  std::byte* const slot = slot_of(pe);
  const auto bytes = static_cast<std::size_t>(cursors_[i].next - slot);
  const auto count = (bytes - sizeof(slot_header)) / item_bytes_;
  const slot_header header{static_cast<std::uint32_t>(count), last ? 1U : 0U};
  std::memcpy(slot, &header, sizeof header);
  ++counted_.buffers;
  counted_.items += count;
  counted_.bytes += bytes;
  const std::uint64_t number = to.sent + 1;
  if (to.published) {
    store(to.published->value, number);
    world_.bell_of(pe_id{pe}).ring();
  } else {
    ++counted_.remote_buffers;
    const auto mine = static_cast<std::size_t>(world_.me().index());
    // The staging slot is not written again before the target has consumed it.
    world_.put_signal(traffic_, incoming_ + mine * ring_bytes() + to.sent % slots_ * slot_bytes_, slot, bytes,
                      {.word = &published_[mine].value, .value = number}, pe_id{pe}, false);
  }
  to.sent = number;
  to.open = false;
  cursors_[i] = {};
}

void rings::turn_over(int pe) {
  if (to_[static_cast<std::size_t>(pe)].open) {
    send_slot(pe, false);
    consume();  // keeps pace with the senders, once per buffer
  }
  open_slot(pe);
}

bool rings::consume() {
  bool any = false;
  const auto mine = static_cast<std::size_t>(world_.me().index());
  if (!from_.empty() && world_.places().nodes() > 1) world_.drive();
  for (std::size_t i = 0; i < from_.size(); ++i) {
    from_pe& from = from_[i];
    const std::uint64_t published = load(published_[i].value);
    if (from.finished || published == from.read) continue;
    any = true;
    while (from.read != published && !from.finished) {
      const std::byte* const slot = incoming_ + i * ring_bytes() + from.read % slots_ * slot_bytes_;
      slot_header header;
      std::memcpy(&header, slot, sizeof header);
      apply_(handler_, slot + sizeof header, header.count);
      from.finished = header.last != 0;  // what follows belongs to the next round and waits in its ring
      ++from.read;
    }
    const pe_id sender{static_cast<int>(i)};
    if (from.consumed) {
      store(from.consumed->value, from.read);
      world_.bell_of(sender).ring();
    } else {
      world_.change(traffic_, &consumed_[mine].value, {fabric::update_op::set, 8, 0, from.read, 0}, sender);
    }
  }
  return any;
}

void rings::finish() {
  for (int pe = 0; pe < world_.pes(); ++pe) {
    if (!to_[static_cast<std::size_t>(pe)].open) open_slot(pe);
    send_slot(pe, true);
  }
  const auto over = [&] {
    for (int pe = 0; pe < world_.pes(); ++pe) {
      const auto i = static_cast<std::size_t>(pe);
      if (!from_[i].finished || load(consumed_[i].value) != to_[i].sent) return false;
    }
    return true;
  };
  while (!over()) {
    if (!consume()) world_.wait().until({fabric::operation::aggregate}, [&] { return over() || anything_arrived(); });
  }
  for (from_pe& from : from_) from.finished = false;
}

aggregate_statistics rings::statistics() const {
  aggregate_statistics now = counted_;
  for (std::size_t i = 0; i < to_.size(); ++i) {
    if (!to_[i].open) continue;  // what stands in open buffers has been pushed, too
    const std::byte* const items = slot_of(static_cast<int>(i)) + sizeof(slot_header);
    now.items += static_cast<std::size_t>(cursors_[i].next - items) / item_bytes_;
  }
  return now;
}

rings* make_rings(std::size_t item_bytes, apply_batch apply, void* handler) {
  return std::make_unique<rings>(shmem::here("lull::aggregator"), item_bytes, apply, handler).release();
}
void delete_rings(rings* r) noexcept { delete r; }  // NOLINT(cppcoreguidelines-owning-memory)
cursor* cursors_of(rings* r) noexcept { return r->cursors(); }
void turn_over(rings* r, int pe) { r->turn_over(pe); }
void finish(rings* r) { r->finish(); }
aggregate_statistics statistics_of(const rings* r) noexcept { return r->statistics(); }

}  // namespace lull::detail
