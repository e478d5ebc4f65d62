#include "aggregate/hops/pe_hop.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace lull::aggregate {
namespace {

std::uint64_t load(const std::uint64_t& counter) {
  return std::atomic_ref(const_cast<std::uint64_t&>(counter)).load(std::memory_order_acquire);
}
void store(std::uint64_t& counter, std::uint64_t value) {
  std::atomic_ref(counter).store(value, std::memory_order_release);
}

}  // namespace

model::buffer_demand pe_hop::demand(const channel_counts& most) {
  return {.intra_node_channels = most.intra_node_sources,
          .inter_node_channels = most.inter_node_sources + most.inter_node_targets};
}

pe_hop::pe_hop(fabric::world& world, const route& way, int number, const item_format& items, const buffer_sizes& sizes,
               sink to)
    : hop(items, to, items.compressed ? sizes.inter_node_bytes : 0), world_(world), sizes_(sizes) {
  const job::layout& layout = world.places();
  // The layout of symmetric memory is the same on all PEs, so it has room for the PE that needs most.
  const channel_counts largest = way.most_channels(number);
  const std::size_t intra_node_ring = sizes.per_channel * sizes.intra_node_bytes,
                    inter_node_ring = sizes.per_channel * sizes.inter_node_bytes;
  const std::size_t words = largest.inter_node_sources * sizes.per_channel;
  rings_ = static_cast<std::byte*>(world.memory().allocate(std::max<std::size_t>(
      largest.intra_node_sources * intra_node_ring + largest.inter_node_sources * inter_node_ring, 64)));
  published_ =
      static_cast<line*>(world.memory().allocate(sizeof(line) * std::max<std::size_t>(largest.intra_node_sources, 1)));
  ready_ =
      static_cast<std::uint64_t*>(world.memory().allocate(sizeof(std::uint64_t) * std::max<std::size_t>(words, 1)));
  consumed_ = static_cast<line*>(world.memory().allocate(sizeof(line) * std::max<std::size_t>(largest.targets, 1)));
  if (!rings_ || !published_ || !ready_ || !consumed_) {
    for (void* const part : symmetric_parts())
      if (part) world.memory().release(part);
    throw std::bad_alloc();
  }
  std::fill_n(published_, largest.intra_node_sources, line{0});
  std::fill_n(ready_, words, 0);
  std::fill_n(consumed_, largest.targets, line{0});
  world.everybody().sync();  // the counters are zero everywhere

  const pe_id me = world.me();
  // The index of the channel `from` → `to` at `to`: rings from its own node come first.
  const auto ring_index = [&](pe_id from, pe_id to) {
    const bool intra_node = layout.node_of(from) == layout.node_of(to);
    return way.index_at_target(number, from, to) + (intra_node ? 0 : largest.intra_node_sources);
  };
  const auto words_of = [&](std::size_t index) {
    return ready_ + (index - largest.intra_node_sources) * sizes.per_channel;
  };
  const auto ring_at = [&](std::size_t index) {
    return rings_ + std::min(index, largest.intra_node_sources) * intra_node_ring +
           (index > largest.intra_node_sources ? index - largest.intra_node_sources : 0) * inter_node_ring;
  };
  const auto targets = way.targets(number, me);
  std::size_t inter_node = 0;
  for (const pe_id target : targets) inter_node += layout.shares_memory(target) ? 0 : 1;
  staging_ = std::make_unique_for_overwrite<std::byte[]>(inter_node * inter_node_ring);  // touched on first use
  cursors_.resize(targets.size());
  std::size_t staged = 0;
  const auto counters = way.indices_of_targets(number, me, targets);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const pe_id target = targets[i];
    const std::size_t index = ring_index(me, target);
    outgoing out{.to = target, .consumed = &consumed_[counters[i]], .intra_node = layout.shares_memory(target)};
    if (out.intra_node) {
      out.buffer_bytes = sizes.intra_node_bytes;
      out.buffers = static_cast<std::byte*>(world.memory().direct(ring_at(index), target));
      out.published = static_cast<line*>(world.memory().direct(&published_[index], target));
    } else {
      out.buffer_bytes = sizes.inter_node_bytes;
      out.buffers = staging_.get() + staged++ * inter_node_ring;
      out.buffers_there = ring_at(index);
      out.ready_there = words_of(index);
    }
    out_.push_back(out);
  }
  make_stages();
  const auto sources = way.sources(number, me);
  const auto counters_there = way.indices_at_sources(number, sources, me);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const pe_id source = sources[i];
    const std::size_t index = ring_index(source, me);
    incoming in{.from = source, .buffers = ring_at(index)};
    in.intra_node = layout.shares_memory(source);
    if (in.intra_node)
      in.published = &published_[index];
    else
      in.ready = words_of(index);
    in.buffer_bytes = in.intra_node ? sizes.intra_node_bytes : sizes.inter_node_bytes;
    line* const counter = &consumed_[counters_there[i]];
    in.consumed = in.intra_node ? static_cast<line*>(world.memory().direct(counter, source)) : counter;
    in_.push_back(in);
  }
}

pe_hop::~pe_hop() {
  world_.transfers().quiet(traffic_);
  world_.transfers().quiet(acks_);
  world_.everybody().sync();  // afterwards no PE sends into the memory that is released
  for (void* const part : symmetric_parts()) world_.memory().release(part);
}

bool pe_hop::room(const outgoing& out) const {
  const std::uint64_t consumed = load(out.consumed->value);  // first: it never exceeds the number sent
  return load(out.sent) - consumed < sizes_.per_channel - sizes_.reserved;
}

bool pe_hop::arrived(const incoming& in) const {
  if (in.at.finished) return false;
  return in.intra_node ? load(in.published->value) != in.at.read
                       : load(in.ready[in.at.read % sizes_.per_channel]) == in.at.read + 1;
}

bool pe_hop::anything_arrived() const {
  for (std::size_t channel = 0; channel < in_.size(); ++channel)
    if (const incoming& in = in_[channel]; arrived(in) && !in.at.refused && !claims_.is_held(channel)) return true;
  return false;
}

void pe_hop::share_channels(hop* replies) {
  claims_.share(in_.size());
  if (replies) static_cast<pe_hop*>(replies)->filled_under_ = &claims_;
}

void pe_hop::make_stages() {
  if (sizes_.stage_bytes == 0 || items_.stride == 0) return;
  const auto has_one = [&](const outgoing& out) { return out.intra_node && out.to != world_.me(); };
  const auto lines_of_each = sizes_.stage_bytes / sizeof(line);
  stages_.resize(static_cast<std::size_t>(std::ranges::count_if(out_, has_one)) * lines_of_each);
  line* next = stages_.data();
  for (outgoing& out : out_)
    if (has_one(out))
      out.stage = std::as_writable_bytes(std::span(std::exchange(next, next + lines_of_each), lines_of_each))
                      .first(sizes_.stage_bytes / items_.stride * items_.stride);
}

void pe_hop::open_buffer(std::size_t channel) {
  outgoing& out = out_[channel];
  out.filled = 0;
  out.open = true;
  place_cursor(channel);
}

void pe_hop::place_cursor(std::size_t channel) {
  const outgoing& out = out_[channel];
  std::size_t room = space(out) - out.filled;
  if (items_.stride != 0) room = room / items_.stride * items_.stride;
  if (out.stage.empty())
    cursors_[channel] = {place_in(out), place_in(out) + room};
  else
    cursors_[channel] = {out.stage.data(), out.stage.data() + std::min(room, out.stage.size())};
}

std::size_t pe_hop::written(std::size_t channel) const {
  const outgoing& out = out_[channel];
  return static_cast<std::size_t>(cursors_[channel].next - (out.stage.empty() ? place_in(out) : out.stage.data()));
}

void pe_hop::commit(std::size_t channel) {
  outgoing& out = out_[channel];
  const std::size_t bytes = written(channel);
  if (!out.stage.empty()) std::memcpy(place_in(out), out.stage.data(), bytes);
  out.filled += bytes;
}

bool pe_hop::go_on_in_buffer(std::size_t channel) {
  if (!out_[channel].open || out_[channel].stage.empty()) return false;
  commit(channel);
  place_cursor(channel);
  return cursors_[channel].next != cursors_[channel].end;
}

void pe_hop::send_buffer(std::size_t channel, const std::uint64_t* pushed) {
  outgoing& out = out_[channel];
  std::byte* const buffer = buffer_of(out);
  std::byte* const items = buffer + sizeof(buffer_header);
  commit(channel);
  const std::size_t bytes = out.filled;
  const std::size_t count = items_.count(bytes);
  packed left{bytes, keeps_all};
  if (!out.intra_node && items_.compressed) left = pack(items, count, items_.stride);
  const buffer_header header{.bytes = static_cast<std::uint32_t>(left.bytes),
                             .count = static_cast<std::uint32_t>(count),
                             .kept = left.kept,
                             .pushed = pushed ? *pushed : 0,
                             .last = pushed ? 1U : 0U,
                             .reserved = 0};
  std::memcpy(buffer, &header, sizeof header);
  ++counts_.buffers;
  counts_.items += count;
  counts_.bytes += sizeof header + left.bytes;
  counts_.filled += left.bytes;
  counts_.room += out.buffer_bytes - sizeof header;
  const std::uint64_t number = out.sent + 1;
  if (out.intra_node) {
    store(out.published->value, number);
    world_.memory().bell_of(out.to).ring();
  } else {
    ++counts_.inter_node_buffers;
    counts_.inter_node_items += count;
    counts_.inter_node_bytes += sizeof header + left.bytes;
    // The staging buffer is not written again before the target has consumed it.
    world_.transfers().put_signal(
        traffic_, out.buffers_there + (buffer - out.buffers), buffer, sizeof header + left.bytes,
        {.word = &out.ready_there[out.sent % sizes_.per_channel], .value = number}, out.to, false);
  }
  store(out.sent, number);
  out.open = false;
  cursors_[channel] = {};
}

hop::made_room pe_hop::make_room(std::size_t channel) {
  if (go_on_in_buffer(channel)) return {.room = true, .sent = false};
  const bool sends = out_[channel].open;
  if (sends) send_buffer(channel, nullptr);
  const bool is_free = room(out_[channel]);
  if (is_free) open_buffer(channel);
  return {.room = is_free, .sent = sends};
}

std::size_t pe_hop::append(std::size_t channel, std::span<const std::byte> items) {
  outgoing& out = out_[channel];
  for (;;) {
    if (!out.open) {
      if (!room(out)) return 0;
      open_buffer(channel);
    }
    commit(channel);
    const std::size_t bytes = items_.fitting(items, space(out) - out.filled);
    std::memcpy(place_in(out), items.data(), bytes);
    out.filled += bytes;
    place_cursor(channel);
    if (bytes != 0) return bytes;
    send_buffer(channel, nullptr);
  }
}

std::size_t pe_hop::flush(std::size_t from_channel) {
  for (std::size_t channel = from_channel; channel < out_.size(); ++channel) {
    if (filled_under_ && !filled_under_->try_take(channel)) continue;  // the thread that fills it flushes it later
    if (out_[channel].open && out_[channel].filled + written(channel) != 0) send_buffer(channel, nullptr);
    if (filled_under_) filled_under_->give_back(channel);
  }
  return out_.size();
}

bool pe_hop::begin_close(std::uint64_t pushed) {
  pushed_ = pushed;
  return true;
}

std::size_t pe_hop::close(std::size_t from_channel) {
  for (std::size_t channel = from_channel; channel < out_.size(); ++channel) {
    const outgoing& out = out_[channel];
    if (!out.open && sizes_.reserved == 0 && !room(out)) return channel;
    if (!out.open) open_buffer(channel);
    send_buffer(channel, &pushed_);
  }
  return out_.size();
}

bool pe_hop::consume() {
  bool any = false;
  for (std::size_t channel = 0; channel < in_.size(); ++channel) {
    incoming& in = in_[channel];
    if (!arrived(in) || !claims_.try_take(channel)) continue;
    any |= consume(in);
    claims_.give_back(channel);
    // A sleeping thread has ignored what arrived while the channel was claimed.
    if (claims_.shared() && arrived(in)) world_.memory().bell_of(world_.me()).ring();
  }
  return any;
}

bool pe_hop::consume(incoming& in) {
  const channel_reading before = in.at;
  while (arrived(in) && unload(in.at, in.from, in.buffers + in.at.read % sizes_.per_channel * in.buffer_bytes)) {
  }
  if (in.at.read != before.read) {
    if (in.intra_node) {
      store(in.consumed->value, in.at.read);
      world_.memory().bell_of(in.from).ring();
    } else {
      world_.transfers().non_fetching(acks_, &in.consumed->value, {fabric::amo_op::set, 8, 0, in.at.read, 0}, in.from);
    }
  }
  return in.at.is_beyond(before);
}

bool pe_hop::over() const {
  return std::ranges::all_of(in_, [](const incoming& in) { return in.at.finished; }) &&
         std::ranges::all_of(out_, [](const outgoing& out) { return load(out.consumed->value) == out.sent; });
}

void pe_hop::reopen() {
  for (incoming& in : in_) in.at.finished = false;
  most_pushed_.store(0, std::memory_order_relaxed);
}

hop::waiting pe_hop::waiting_items() const {
  waiting items;
  for (std::size_t channel = 0; channel < out_.size(); ++channel) {
    if (!out_[channel].open) continue;
    const std::size_t here = items_.count(out_[channel].filled + written(channel));
    items.all += here;
    if (!out_[channel].intra_node) items.inter_node += here;
  }
  return items;
}

bool pe_hop::reaches_other_nodes() const {
  return std::ranges::any_of(out_, [](const outgoing& out) { return !out.intra_node; });
}

}  // namespace lull::aggregate
