#include "aggregate/node_stage.hpp"

#include <algorithm>
#include <new>

namespace lull::aggregate {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t chunk = 1024;
constexpr std::size_t largest_chunk = 16384;  // for items of any size: none may be larger

// A lane's word: which slot is open, and how many bytes of it are taken.
constexpr unsigned slot_shift = 32;
constexpr std::uint64_t slot_in(std::uint64_t state) { return state >> slot_shift; }
constexpr std::uint64_t bytes_in(std::uint64_t state) { return state & ((std::uint64_t{1} << slot_shift) - 1); }
constexpr std::uint64_t state_of(std::uint64_t slot, std::uint64_t bytes) { return slot << slot_shift | bytes; }

// A slot's word counts the bytes written; closing it takes off what it must become and adds this.
constexpr std::uint64_t closed_slot = std::uint64_t{1} << 40U;

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

struct node_stage::control {
  alignas(line) std::atomic<std::uint64_t> state;
  alignas(line) std::uint64_t consumed;  // by the receiver: slots that it has emptied
  alignas(line) std::atomic<std::uint64_t> end_of_round;
};

std::size_t node_stage::memory(const lane_counts& most, const buffer_sizes& sizes) {
  return (most.keeps + most.receives) * sizes.slots * sizes.far_bytes + most.lanes * largest_chunk;
}

// Of a PE's symmetric memory: three counters of its node (the leader's are used), then what it keeps, lane by lane
// (control, a word per slot, slots), then what it receives (a word per slot, slots).
node_stage::node_stage(fabric::world& world, progress_of_later_stages& later, const route& way, int number,
                       const item_format& items, const buffer_sizes& sizes, sink to)
    : stage(items, to, items.compressed ? sizes.far_bytes : 0),
      world_(world),
      later_(later),
      number_(number),
      sizes_(sizes),
      chunk_bytes_(std::max(
          items.stride, std::min(items.stride == 0 ? largest_chunk : chunk, sizes.far_bytes - sizeof(slot_header)))),
      pes_here_(world.places().members(world.places().my_node()).size()) {
  const job::layout& places = world.places();
  const lane_counts largest = way.most_lanes(number);
  const std::size_t words = round_up(sizes.slots * sizeof(std::uint64_t));
  const std::size_t kept = sizeof(control) + words + sizes.slots * sizes.far_bytes;
  const std::size_t received = words + sizes.slots * sizes.far_bytes;
  const std::size_t head = 3 * line;
  const std::size_t bytes = head + largest.keeps * kept + largest.receives * received;
  memory_ = static_cast<std::byte*>(world.memory().allocate(bytes));
  if (!memory_) throw std::bad_alloc();
  std::fill_n(memory_, head, std::byte{0});
  for (std::size_t i = 0; i < largest.keeps; ++i)
    std::fill_n(memory_ + head + i * kept, sizeof(control) + words, std::byte{0});
  for (std::size_t i = 0; i < largest.receives; ++i)
    std::fill_n(memory_ + head + largest.keeps * kept + i * received, words, std::byte{0});
  world.everybody().sync();

  const node_id here = places.my_node();
  const pe_id me = world.me();
  auto* const common = static_cast<std::byte*>(world.memory().direct(memory_, places.leader(here)));
  closed_ = reinterpret_cast<std::atomic<std::uint64_t>*>(common);
  pushed_ = reinterpret_cast<std::atomic<std::uint64_t>*>(common + line);
  ended_ = reinterpret_cast<std::atomic<std::uint64_t>*>(common + 2 * line);

  const auto kept_at = [&](std::size_t place) { return memory_ + head + place * kept; };
  const auto received_at = [&](std::size_t place) { return memory_ + head + largest.keeps * kept + place * received; };
  for (const node_id target : way.targets(number, here)) {
    outgoing out;
    out.to = target;
    out.receiver = way.keeper(target, here);
    const pe_id keeper = way.keeper(here, target);
    out.kept_here = keeper == me;
    auto* const lane =
        static_cast<std::byte*>(world.memory().direct(kept_at(way.place_at_source(number, here, target)), keeper));
    out.shared = reinterpret_cast<control*>(lane);
    out.written = reinterpret_cast<std::atomic<std::uint64_t>*>(lane + sizeof(control));
    out.slots = lane + sizeof(control) + words;
    std::byte* const there = received_at(way.place_at_target(number, here, target));
    out.far_ready = reinterpret_cast<std::uint64_t*>(there);
    out.far_slots = there + words;
    out_.push_back(out);
  }
  for (const node_id source : way.sources(number, here)) {
    if (way.keeper(here, source) != me) continue;
    incoming in;
    in.from = source;
    in.keeper = way.keeper(source, here);
    std::byte* const lane = received_at(way.place_at_target(number, source, here));
    in.ready = reinterpret_cast<const std::uint64_t*>(lane);
    in.slots = lane + words;
    in.far_consumed = &reinterpret_cast<control*>(kept_at(way.place_at_source(number, source, here)))->consumed;
    in_.push_back(in);
  }
  chunks_.resize(out_.size() * chunk_bytes_);
  cursors_.resize(out_.size());
  for (std::size_t i = 0; i < out_.size(); ++i) cursors_[i] = {chunk_of(i), chunk_of(i)};
}

node_stage::~node_stage() {
  world_.transfers().quiet(traffic_);
  world_.transfers().quiet(answers_);
  world_.everybody().sync();
  world_.memory().release(memory_);
}

bool node_stage::room(const outgoing& out, std::uint64_t slot) const {
  return slot < std::atomic_ref(out.shared->consumed).load(std::memory_order_acquire) + sizes_.slots - sizes_.reserved;
}

bool node_stage::room(std::size_t lane) const {
  const outgoing& out = out_[lane];
  return room(out, slot_in(out.shared->state.load(std::memory_order_acquire)));
}

void node_stage::wait_for_room(const outgoing& out, std::uint64_t slot) {
  if (room(out, slot)) [[likely]]
    return;
  struct wanted {
    const node_stage* stage;
    const outgoing* out;
    std::uint64_t slot;
  } const what{this, &out, slot};
  later_.wait_for(
      number_,
      [](const void* w) {
        const auto* const wants = static_cast<const wanted*>(w);
        return wants->stage->room(*wants->out, wants->slot);
      },
      &what);
}

std::size_t node_stage::bytes_in_chunk(std::size_t lane) const {
  return static_cast<std::size_t>(cursors_[lane].next - (chunks_.data() + lane * chunk_bytes_));
}

std::size_t node_stage::append(std::size_t lane, std::span<const std::byte> items) {
  outgoing& out = out_[lane];
  const std::size_t bytes = items_.fitting(items, chunk_bytes_);
  std::uint64_t state = out.shared->state.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t slot = slot_in(state), taken = bytes_in(state);
    if (taken + bytes > space()) {
      close_slot(out, nullptr);  // which does not wait: there was room for what is in it
      state = out.shared->state.load(std::memory_order_acquire);
      continue;
    }
    if (!room(out, slot)) return 0;
    if (!out.shared->state.compare_exchange_weak(state, state_of(slot, taken + bytes), std::memory_order_acq_rel))
      continue;
    std::memcpy(out.slots + slot % sizes_.slots * sizes_.far_bytes + sizeof(slot_header) + taken, items.data(), bytes);
    counts_.items += items_.count(bytes);
    written(out, slot, bytes);
    return bytes;
  }
}

bool node_stage::try_append_chunk(std::size_t lane) {
  std::byte* const items = chunk_of(lane);
  const std::size_t bytes = bytes_in_chunk(lane);
  if (bytes != 0 && append(lane, {items, bytes}) == 0) return false;
  const std::size_t whole = items_.stride == 0 ? chunk_bytes_ : chunk_bytes_ / items_.stride * items_.stride;
  cursors_[lane] = {items, items + whole};
  return true;
}

void node_stage::append_chunk(std::size_t lane) {
  const outgoing& out = out_[lane];
  while (!try_append_chunk(lane)) wait_for_room(out, slot_in(out.shared->state.load(std::memory_order_acquire)));
}

// The open slot as it is now, unless another has closed it meanwhile; an empty one only as the last.
void node_stage::close_slot(outgoing& out, const std::uint64_t* pushed) {
  std::uint64_t state = out.shared->state.load(std::memory_order_acquire);
  const std::uint64_t slot = slot_in(state);
  if (bytes_in(state) == 0 && !pushed) return;
  if (sizes_.reserved == 0) wait_for_room(out, slot);  // what is not empty has room already
  while (!out.shared->state.compare_exchange_weak(state, state_of(slot + 1, 0), std::memory_order_acq_rel))
    if (slot_in(state) != slot) return;
  const std::uint64_t bytes = bytes_in(state);
  const slot_header header{.bytes = static_cast<std::uint32_t>(bytes),
                           .count = static_cast<std::uint32_t>(items_.count(bytes)),
                           .kept = keeps_all,
                           .pushed = pushed ? *pushed : 0,
                           .last = pushed ? 1U : 0U,
                           .reserved = 0};
  std::memcpy(out.slots + slot % sizes_.slots * sizes_.far_bytes, &header, sizeof header);
  if (pushed) out.shared->end_of_round.store(slot + 1, std::memory_order_release);
  written(out, slot, closed_slot - bytes);
}

void node_stage::written(outgoing& out, std::uint64_t slot, std::uint64_t change) {
  std::atomic<std::uint64_t>& word = out.written[slot % sizes_.slots];
  if (word.fetch_add(change, std::memory_order_acq_rel) + change == closed_slot) send(out, slot);
}

void node_stage::send(outgoing& out, std::uint64_t slot) {
  out.written[slot % sizes_.slots].store(0, std::memory_order_relaxed);
  std::byte* const at = out.slots + slot % sizes_.slots * sizes_.far_bytes;
  slot_header header;
  std::memcpy(&header, at, sizeof header);
  if (items_.compressed) {
    const packed left = pack(at + sizeof header, header.count, items_.stride);
    header.bytes = static_cast<std::uint32_t>(left.bytes);
    header.kept = left.kept;
    std::memcpy(at, &header, sizeof header);
  }
  const std::size_t bytes = sizeof header + header.bytes;
  ++counts_.buffers;
  ++counts_.far_buffers;
  counts_.bytes += bytes;
  counts_.far_bytes += bytes;
  counts_.room += space();
  // The slot is not written again before the receiver has consumed it.
  world_.transfers().put_signal(traffic_, out.far_slots + (at - out.slots), at, bytes,
                                {.word = &out.far_ready[slot % sizes_.slots], .value = slot + 1}, out.receiver, false);
}

void node_stage::turn_over(std::size_t lane) { append_chunk(lane); }

void node_stage::flush() {
  for (std::size_t lane = 0; lane < out_.size(); ++lane) {
    append_chunk(lane);
    close_slot(out_[lane], nullptr);
  }
}

bool node_stage::try_turn_over(std::size_t lane) { return try_append_chunk(lane); }

bool node_stage::try_flush() {
  bool all = true;
  for (std::size_t lane = 0; lane < out_.size(); ++lane) {
    all &= try_append_chunk(lane);
    close_slot(out_[lane], nullptr);
  }
  return all;
}

bool node_stage::holds_back() const {
  for (std::size_t lane = 0; lane < out_.size(); ++lane)
    if (bytes_in_chunk(lane) != 0) return true;
  return false;
}

bool node_stage::could_send_more() const {
  for (std::size_t lane = 0; lane < out_.size(); ++lane)
    if (bytes_in_chunk(lane) != 0 && room(lane)) return true;
  return false;
}

void node_stage::close(std::uint64_t pushed) {
  for (std::size_t lane = 0; lane < out_.size(); ++lane) append_chunk(lane);
  std::uint64_t most = pushed_->load(std::memory_order_relaxed);
  while (most < pushed && !pushed_->compare_exchange_weak(most, pushed, std::memory_order_relaxed)) {
  }
  ++round_;
  // The last of the node speaks for all. Until it has, nobody here is in the next round.
  if (closed_->fetch_add(1, std::memory_order_acq_rel) + 1 != round_ * pes_here_) return;
  const std::uint64_t all = pushed_->exchange(0, std::memory_order_relaxed);
  for (outgoing& out : out_) close_slot(out, &all);
  ended_->store(round_, std::memory_order_release);
  world_.memory().ring_node();
}

bool node_stage::arrived(const incoming& in) const {
  return !in.at.finished && std::atomic_ref(const_cast<std::uint64_t&>(in.ready[in.at.read % sizes_.slots]))
                                    .load(std::memory_order_acquire) == in.at.read + 1;
}

bool node_stage::anything_arrived() const {
  return std::ranges::any_of(in_, [&](const incoming& in) { return arrived(in) && !in.at.refused; });
}

bool node_stage::consume() {
  bool any = false;
  for (incoming& in : in_) {
    const lane_reading before = in.at;
    while (arrived(in) && unload(in.at, in.keeper, in.slots + in.at.read % sizes_.slots * sizes_.far_bytes)) {
    }
    any |= in.at.is_beyond(before);
    if (in.at.read == before.read) continue;
    world_.transfers().put_signal(answers_, in.far_consumed, nullptr, 0,
                                  {.word = in.far_consumed, .value = in.at.read, .whole_node = true}, in.keeper, false);
  }
  return any;
}

bool node_stage::over() const {
  if (ended_->load(std::memory_order_acquire) < round_) return false;
  return std::ranges::all_of(in_, [](const incoming& in) { return in.at.finished; }) &&
         std::ranges::all_of(out_, [&](const outgoing& out) {
           if (!out.kept_here) return true;
           const std::uint64_t end = out.shared->end_of_round.load(std::memory_order_acquire);
           return std::atomic_ref(out.shared->consumed).load(std::memory_order_acquire) >= end;
         });
}

void node_stage::reopen() {
  for (incoming& in : in_) in.at.finished = false;
  most_pushed_ = 0;
}

std::uint64_t node_stage::waiting_items() const {
  std::uint64_t items = 0;
  for (std::size_t lane = 0; lane < out_.size(); ++lane) items += items_.count(bytes_in_chunk(lane));
  return items;
}

}  // namespace lull::aggregate
