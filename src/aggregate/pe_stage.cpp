#include "aggregate/pe_stage.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace lull::aggregate {
namespace {

std::uint64_t load(const std::uint64_t& counter) {
  return std::atomic_ref(const_cast<std::uint64_t&>(counter)).load(std::memory_order_acquire);
}
void store(std::uint64_t& counter, std::uint64_t value) {
  std::atomic_ref(counter).store(value, std::memory_order_release);
}

}  // namespace

std::size_t pe_stage::memory(const lane_counts& most, const buffer_sizes& sizes) {
  return sizes.slots * (most.near_sources * sizes.near_bytes + (most.far_sources + most.far_targets) * sizes.far_bytes);
}

pe_stage::pe_stage(fabric::world& world, progress_of_later_stages& later, const route& way, int number,
                   const item_format& items, const buffer_sizes& sizes, sink to)
    : stage(items, to, items.compressed ? sizes.far_bytes : 0),
      world_(world),
      later_(later),
      number_(number),
      sizes_(sizes) {
  const job::layout& places = world.places();
  // Where things stand in symmetric memory is alike on all PEs, so there is room for the PE that needs most.
  const lane_counts largest = way.most_lanes(number);
  const std::size_t near_ring = sizes.slots * sizes.near_bytes, far_ring = sizes.slots * sizes.far_bytes;
  const std::size_t rings = largest.near_sources + largest.far_sources;
  rings_ = static_cast<std::byte*>(world.memory().allocate(
      std::max<std::size_t>(largest.near_sources * near_ring + largest.far_sources * far_ring, 64)));
  published_ = static_cast<line*>(world.memory().allocate(sizeof(line) * std::max<std::size_t>(rings, 1)));
  consumed_ = static_cast<line*>(world.memory().allocate(sizeof(line) * std::max<std::size_t>(largest.targets, 1)));
  if (!rings_ || !published_ || !consumed_) {
    for (void* const piece :
         {static_cast<void*>(rings_), static_cast<void*>(published_), static_cast<void*>(consumed_)})
      if (piece) world.memory().release(piece);
    throw std::bad_alloc();
  }
  std::fill_n(published_, rings, line{0});
  std::fill_n(consumed_, largest.targets, line{0});
  world.everybody().sync();  // the counters are zero everywhere

  const pe_id me = world.me();
  // Of the lane `from` → `to`, at `to`: rings of its own node come first.
  const auto ring_place = [&](pe_id from, pe_id to) {
    const bool near = places.node_of(from) == places.node_of(to);
    return way.place_at_target(number, from, to) + (near ? 0 : largest.near_sources);
  };
  const auto ring_at = [&](std::size_t place) {
    return rings_ + std::min(place, largest.near_sources) * near_ring +
           (place > largest.near_sources ? place - largest.near_sources : 0) * far_ring;
  };
  const auto targets = way.targets(number, me);
  std::size_t far = 0;
  for (const pe_id target : targets) far += places.shares_memory(target) ? 0 : 1;
  staging_.resize(far * far_ring);
  cursors_.resize(targets.size());
  std::size_t staged = 0;
  const auto counters = way.places_of_targets(number, me, targets);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const pe_id target = targets[i];
    const std::size_t place = ring_place(me, target);
    outgoing out{.to = target, .consumed = &consumed_[counters[i]], .near = places.shares_memory(target)};
    if (out.near) {
      out.slot_bytes = sizes.near_bytes;
      out.slots = static_cast<std::byte*>(world.memory().direct(ring_at(place), target));
      out.published = static_cast<line*>(world.memory().direct(&published_[place], target));
    } else {
      out.slot_bytes = sizes.far_bytes;
      out.slots = staging_.data() + staged++ * far_ring;
      out.far_slots = ring_at(place);
      out.published = &published_[place];
    }
    out_.push_back(out);
  }
  const auto sources = way.sources(number, me);
  const auto counters_there = way.places_at_sources(number, sources, me);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const pe_id source = sources[i];
    const std::size_t place = ring_place(source, me);
    incoming in{.from = source, .slots = ring_at(place), .published = &published_[place]};
    in.near = places.shares_memory(source);
    in.slot_bytes = in.near ? sizes.near_bytes : sizes.far_bytes;
    line* const counter = &consumed_[counters_there[i]];
    in.consumed = in.near ? static_cast<line*>(world.memory().direct(counter, source)) : counter;
    in_.push_back(in);
  }
}

pe_stage::~pe_stage() {
  world_.transfers().quiet(traffic_);
  world_.transfers().quiet(answers_);
  world_.everybody().sync();  // nobody sends into memory that is given back
  for (void* const piece : {static_cast<void*>(rings_), static_cast<void*>(published_), static_cast<void*>(consumed_)})
    world_.memory().release(piece);
}

bool pe_stage::room(const outgoing& out) const {
  const std::uint64_t consumed = load(out.consumed->value);  // first: it never is more than was sent
  return load(out.sent) - consumed < sizes_.slots - sizes_.reserved;
}

bool pe_stage::arrived(const incoming& in) const { return !in.at.finished && load(in.published->value) != in.at.read; }

bool pe_stage::anything_arrived() const {
  return std::ranges::any_of(in_, [&](const incoming& in) { return arrived(in) && !in.at.refused; });
}

void pe_stage::wait_for_slot(std::size_t lane) {
  const outgoing& out = out_[lane];
  struct wanted {
    const pe_stage* stage;
    const outgoing* out;
  } const what{this, &out};
  while (!out.open && !room(out))
    later_.wait_for(
        number_,
        [](const void* w) {
          const auto* const wants = static_cast<const wanted*>(w);
          return wants->stage->room(*wants->out);
        },
        &what);
}

void pe_stage::open_slot(std::size_t lane) {
  outgoing& out = out_[lane];
  std::byte* const items = slot_of(out) + sizeof(slot_header);
  const std::size_t space = out.slot_bytes - sizeof(slot_header);
  cursors_[lane] = {items, items + (items_.stride == 0 ? space : space / items_.stride * items_.stride)};
  out.open = true;
}

void pe_stage::send_slot(std::size_t lane, const std::uint64_t* pushed) {
  outgoing& out = out_[lane];
  std::byte* const slot = slot_of(out);
  std::byte* const items = slot + sizeof(slot_header);
  const auto bytes = static_cast<std::size_t>(cursors_[lane].next - items);
  const std::size_t count = items_.count(bytes);
  packed left{bytes, keeps_all};
  if (!out.near && items_.compressed) left = pack(items, count, items_.stride);
  const slot_header header{.bytes = static_cast<std::uint32_t>(left.bytes),
                           .count = static_cast<std::uint32_t>(count),
                           .kept = left.kept,
                           .pushed = pushed ? *pushed : 0,
                           .last = pushed ? 1U : 0U,
                           .reserved = 0};
  std::memcpy(slot, &header, sizeof header);
  ++counts_.buffers;
  counts_.items += count;
  counts_.bytes += sizeof header + left.bytes;
  counts_.room += out.slot_bytes - sizeof header;
  const std::uint64_t number = out.sent + 1;
  if (out.near) {
    store(out.published->value, number);
    world_.memory().bell_of(out.to).ring();
  } else {
    ++counts_.far_buffers;
    counts_.far_bytes += sizeof header + left.bytes;
    // The staging slot is not written again before the target has consumed it.
    world_.transfers().put_signal(traffic_, out.far_slots + (slot - out.slots), slot, sizeof header + left.bytes,
                                  {.word = &out.published->value, .value = number}, out.to, false);
  }
  store(out.sent, number);
  out.open = false;
  cursors_[lane] = {};
}

void pe_stage::turn_over(std::size_t lane) {
  if (out_[lane].open) send_slot(lane, nullptr);
  wait_for_slot(lane);
  if (!out_[lane].open) open_slot(lane);
}

std::size_t pe_stage::append(std::size_t lane, std::span<const std::byte> items) {
  cursor& at = cursors_[lane];
  for (;;) {
    if (!out_[lane].open) {
      if (!room(out_[lane])) return 0;
      open_slot(lane);
    }
    if (const std::size_t bytes = items_.fitting(items, static_cast<std::size_t>(at.end - at.next)); bytes != 0) {
      std::memcpy(at.next, items.data(), bytes);
      at.next += bytes;
      return bytes;
    }
    send_slot(lane, nullptr);
  }
}

bool pe_stage::try_turn_over(std::size_t lane) {
  if (out_[lane].open) send_slot(lane, nullptr);
  if (!room(out_[lane])) return false;
  open_slot(lane);
  return true;
}

void pe_stage::flush() {
  for (std::size_t lane = 0; lane < out_.size(); ++lane)
    if (out_[lane].open && cursors_[lane].next != slot_of(out_[lane]) + sizeof(slot_header)) send_slot(lane, nullptr);
}

bool pe_stage::try_flush() {
  flush();
  return true;
}

void pe_stage::close(std::uint64_t pushed) {
  for (std::size_t lane = 0; lane < out_.size(); ++lane) {
    if (sizes_.reserved == 0) wait_for_slot(lane);
    if (!out_[lane].open) open_slot(lane);
    send_slot(lane, &pushed);
  }
}

bool pe_stage::consume() {
  bool any = false;
  for (incoming& in : in_) {
    const lane_reading before = in.at;
    const std::uint64_t published = load(in.published->value);
    while (in.at.read != published && !in.at.finished &&
           unload(in.at, in.from, in.slots + in.at.read % sizes_.slots * in.slot_bytes)) {
    }
    any |= in.at.is_beyond(before);
    if (in.at.read == before.read) continue;
    if (in.near) {
      store(in.consumed->value, in.at.read);
      world_.memory().bell_of(in.from).ring();
    } else {
      world_.transfers().non_fetching(answers_, &in.consumed->value, {fabric::amo_op::set, 8, 0, in.at.read, 0},
                                      in.from);
    }
  }
  return any;
}

bool pe_stage::over() const {
  return std::ranges::all_of(in_, [](const incoming& in) { return in.at.finished; }) &&
         std::ranges::all_of(out_, [](const outgoing& out) { return load(out.consumed->value) == out.sent; });
}

void pe_stage::reopen() {
  for (incoming& in : in_) in.at.finished = false;
  most_pushed_ = 0;
}

std::uint64_t pe_stage::waiting_items() const {
  std::uint64_t items = 0;
  for (std::size_t lane = 0; lane < out_.size(); ++lane)
    if (out_[lane].open)
      items +=
          items_.count(static_cast<std::size_t>(cursors_[lane].next - (slot_of(out_[lane]) + sizeof(slot_header))));
  return items;
}

}  // namespace lull::aggregate
