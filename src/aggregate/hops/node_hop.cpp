#include "aggregate/hops/node_hop.hpp"

#include <algorithm>
#include <new>

#include "aggregate/channels/channel_word.hpp"
#include "base/pages.hpp"

namespace lull::aggregate {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t chunk = 1024;
constexpr std::size_t largest_chunk = 16384;  // for items of any size: no item may be larger

// A buffer's word counts the bytes written. Closing the buffer subtracts its final count and adds this constant.
constexpr std::uint64_t closed_buffer = std::uint64_t{1} << 40U;

}  // namespace

struct node_hop::control {
  alignas(line) std::atomic<std::uint64_t> state;  // channel_word.hpp
  alignas(line) std::uint64_t consumed;            // by the receiver: number of buffers emptied
  alignas(line) std::atomic<std::uint64_t> end_of_phase;
};

struct node_hop::node_counters {
  alignas(line) std::atomic<std::uint64_t> closed;  // how often its PEs have closed
  alignas(line) std::atomic<std::uint64_t> pushed;  // the most that one of them has pushed in this phase
  alignas(line) std::atomic<std::uint64_t> ended;   // phases whose last buffers have been sent
};

model::buffer_demand node_hop::demand(const channel_counts& most) {
  return {.inter_node_channels = most.owned + most.received, .fixed_bytes = most.of_node * largest_chunk};
}

// Layout of a PE's symmetric memory: the counters of its node (the leader's are used), then the channels that it owns
// (each: control, a word per buffer, buffers), then those that it receives (each: a word per buffer, buffers).
node_hop::node_hop(fabric::world& world, const route& way, int number, const item_format& items,
                   const buffer_sizes& sizes, sink to)
    : hop(items, to, items.compressed ? sizes.inter_node_bytes : 0),
      world_(world),
      sizes_(sizes),
      chunk_bytes_(std::max(items.stride, std::min(items.stride == 0 ? largest_chunk : chunk,
                                                   sizes.inter_node_bytes - sizeof(buffer_header)))),
      pes_here_(world.places().members(world.places().my_node()).size()) {
  const job::layout& layout = world.places();
  const channel_counts largest = way.most_channels(number);
  const std::size_t words = round_up(sizes.per_channel * sizeof(std::uint64_t), line);
  const std::size_t owned = sizeof(control) + words + sizes.per_channel * sizes.inter_node_bytes;
  const std::size_t received = words + sizes.per_channel * sizes.inter_node_bytes;
  const std::size_t head = sizeof(node_counters);
  const std::size_t bytes = head + largest.owned * owned + largest.received * received;
  memory_ = static_cast<std::byte*>(world.memory().allocate(bytes));
  if (!memory_) throw std::bad_alloc();
  std::fill_n(memory_, head, std::byte{0});
  for (std::size_t i = 0; i < largest.owned; ++i) {
    std::byte* const channel = memory_ + head + i * owned;
    std::fill_n(channel, sizeof(control) + words, std::byte{0});
    auto* const shared = reinterpret_cast<control*>(channel);
    shared->state.store(channel_word(sizes.first_buffer, 0), std::memory_order_relaxed);  // sync() below publishes it
    shared->consumed = sizes.first_buffer;
  }
  for (std::size_t i = 0; i < largest.received; ++i)
    std::fill_n(memory_ + head + largest.owned * owned + i * received, words, std::byte{0});
  world.everybody().sync();

  const node_id here = layout.my_node();
  const pe_id me = world.me();
  auto* const common = static_cast<std::byte*>(world.memory().direct(memory_, layout.leader(here)));
  node_ = reinterpret_cast<node_counters*>(common);

  const auto owned_at = [&](std::size_t i) { return memory_ + head + i * owned; };
  const auto received_at = [&](std::size_t i) { return memory_ + head + largest.owned * owned + i * received; };
  for (const node_id target : way.targets(number, here)) {
    outgoing out;
    out.to = target;
    out.receiver = way.owner(target, here);
    const pe_id owner = way.owner(here, target);
    out.owned_here = owner == me;
    auto* const channel =
        static_cast<std::byte*>(world.memory().direct(owned_at(way.index_at_source(number, here, target)), owner));
    out.shared = reinterpret_cast<control*>(channel);
    out.written = reinterpret_cast<std::atomic<std::uint64_t>*>(channel + sizeof(control));
    out.buffers = channel + sizeof(control) + words;
    std::byte* const there = received_at(way.index_at_target(number, here, target));
    out.ready_there = reinterpret_cast<std::uint64_t*>(there);
    out.buffers_there = there + words;
    out_.push_back(out);
  }
  for (const node_id source : way.sources(number, here)) {
    if (way.owner(here, source) != me) continue;
    incoming in;
    in.from = source;
    in.owner = way.owner(source, here);
    std::byte* const channel = received_at(way.index_at_target(number, source, here));
    in.ready = reinterpret_cast<const std::uint64_t*>(channel);
    in.buffers = channel + words;
    in.at.read = sizes.first_buffer;
    in.consumed_there = &reinterpret_cast<control*>(owned_at(way.index_at_source(number, source, here)))->consumed;
    in_.push_back(in);
  }
  chunks_.resize(out_.size() * chunk_bytes_);
  cursors_.resize(out_.size());
  for (std::size_t i = 0; i < out_.size(); ++i) cursors_[i] = {chunk_of(i), chunk_of(i)};
}

node_hop::~node_hop() {
  world_.transfers().quiet(traffic_);
  world_.transfers().quiet(acks_);
  world_.everybody().sync();
  world_.memory().release(memory_);
}

std::uint64_t node_hop::consumed(const outgoing& out) {
  return std::atomic_ref(out.shared->consumed).load(std::memory_order_acquire);
}

std::uint64_t node_hop::open_buffer(const outgoing& out) {
  return buffer_in(out.shared->state.load(std::memory_order_acquire), consumed(out));
}

bool node_hop::room(const outgoing& out, std::uint64_t buffer) const {
  return buffer < consumed(out) + sizes_.per_channel - sizes_.reserved;
}

bool node_hop::room(std::size_t channel) const {
  const outgoing& out = out_[channel];
  return room(out, open_buffer(out));
}

std::size_t node_hop::bytes_in_chunk(std::size_t channel) const {
  return static_cast<std::size_t>(cursors_[channel].next - (chunks_.data() + channel * chunk_bytes_));
}

std::size_t node_hop::append(std::size_t channel, std::span<const std::byte> items) {
  outgoing& out = out_[channel];
  const std::size_t bytes = items_.fitting(items, chunk_bytes_);
  std::uint64_t state = out.shared->state.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t buffer = buffer_in(state, consumed(out)), taken = bytes_in(state);
    if (taken + bytes > space()) {
      close_buffer(out, nullptr);
      state = out.shared->state.load(std::memory_order_acquire);
      continue;
    }
    if (!room(out, buffer)) return 0;
    if (!out.shared->state.compare_exchange_weak(state, channel_word(buffer, taken + bytes), std::memory_order_acq_rel))
      continue;
    std::memcpy(out.buffers + buffer % sizes_.per_channel * sizes_.inter_node_bytes + sizeof(buffer_header) + taken,
                items.data(), bytes);
    counts_.items += items_.count(bytes);
    counts_.inter_node_items += items_.count(bytes);
    written(out, buffer, bytes);
    return bytes;
  }
}

bool node_hop::append_chunk(std::size_t channel) {
  std::byte* const items = chunk_of(channel);
  const std::size_t bytes = bytes_in_chunk(channel);
  if (bytes != 0 && append(channel, {items, bytes}) == 0) return false;
  const std::size_t whole = items_.stride == 0 ? chunk_bytes_ : chunk_bytes_ / items_.stride * items_.stride;
  cursors_[channel] = {items, items + whole};
  return true;
}

// Closes the open buffer unless another PE closes it first. Closes an empty one only as the last of its phase.
void node_hop::close_buffer(outgoing& out, const std::uint64_t* pushed) {
  std::uint64_t state = out.shared->state.load(std::memory_order_acquire);
  const std::uint64_t buffer = buffer_in(state, consumed(out));
  if (bytes_in(state) == 0 && !pushed) return;
  while (!out.shared->state.compare_exchange_weak(state, channel_word(buffer + 1, 0), std::memory_order_acq_rel))
    if (buffer_in(state, buffer) != buffer) return;
  const std::uint64_t bytes = bytes_in(state);
  const buffer_header header{.bytes = static_cast<std::uint32_t>(bytes),
                             .count = static_cast<std::uint32_t>(items_.count(bytes)),
                             .kept = keeps_all,
                             .pushed = pushed ? *pushed : 0,
                             .last = pushed ? 1U : 0U,
                             .reserved = 0};
  std::memcpy(out.buffers + buffer % sizes_.per_channel * sizes_.inter_node_bytes, &header, sizeof header);
  if (pushed) out.shared->end_of_phase.store(buffer + 1, std::memory_order_release);
  written(out, buffer, closed_buffer - bytes);
}

void node_hop::written(outgoing& out, std::uint64_t buffer, std::uint64_t change) {
  std::atomic<std::uint64_t>& word = out.written[buffer % sizes_.per_channel];
  // Every writer's addition is in the same chain of acq_rel operations: the last one sees all items, and the header.
  if (word.fetch_add(change, std::memory_order_acq_rel) + change == closed_buffer) send(out, buffer);
}

void node_hop::send(outgoing& out, std::uint64_t buffer) {
  // relaxed: the next addition comes after an acquire of `consumed`, which the receiver changes when it has this buffer
  out.written[buffer % sizes_.per_channel].store(0, std::memory_order_relaxed);
  std::byte* const at = out.buffers + buffer % sizes_.per_channel * sizes_.inter_node_bytes;
  buffer_header header;
  std::memcpy(&header, at, sizeof header);
  if (items_.compressed) {
    const packed left = pack(at + sizeof header, header.count, items_.stride);
    header.bytes = static_cast<std::uint32_t>(left.bytes);
    header.kept = left.kept;
    std::memcpy(at, &header, sizeof header);
  }
  const std::size_t bytes = sizeof header + header.bytes;
  ++counts_.buffers;
  ++counts_.inter_node_buffers;
  counts_.bytes += bytes;
  counts_.filled += header.bytes;
  counts_.inter_node_bytes += bytes;
  counts_.room += space();
  // The buffer is not written again before the receiver has consumed it.
  world_.transfers().put_signal(traffic_, out.buffers_there + (at - out.buffers), at, bytes,
                                {.word = &out.ready_there[buffer % sizes_.per_channel], .value = buffer + 1},
                                out.receiver, false);
}

hop::made_room node_hop::make_room(std::size_t channel) {
  const bool any = bytes_in_chunk(channel) != 0;
  const bool appended = append_chunk(channel);
  return {.room = appended, .sent = any && appended};
}

std::size_t node_hop::flush(std::size_t from_channel) {
  for (std::size_t channel = from_channel; channel < out_.size(); ++channel) {
    const bool appended = append_chunk(channel);
    close_buffer(out_[channel], nullptr);
    if (!appended) return channel;
  }
  return out_.size();
}

bool node_hop::holds_back() const {
  for (std::size_t channel = 0; channel < out_.size(); ++channel)
    if (bytes_in_chunk(channel) != 0) return true;
  return false;
}

bool node_hop::could_send_more() const {
  for (std::size_t channel = 0; channel < out_.size(); ++channel)
    if (bytes_in_chunk(channel) != 0 && room(channel)) return true;
  return false;
}

std::size_t node_hop::write_all(std::size_t from_channel) {
  for (std::size_t channel = from_channel; channel < out_.size(); ++channel)
    if (!append_chunk(channel)) return channel;
  return out_.size();
}

bool node_hop::begin_close(std::uint64_t pushed) {
  // relaxed: the acq_rel chain of `closed` orders `pushed` before the last PE's exchange
  std::uint64_t most = node_->pushed.load(std::memory_order_relaxed);
  while (most < pushed && !node_->pushed.compare_exchange_weak(most, pushed, std::memory_order_relaxed)) {
  }
  ++phase_;
  // The last PE of the node closes for all of them. Until then no PE of the node is in the next phase.
  if (node_->closed.fetch_add(1, std::memory_order_acq_rel) + 1 != phase_ * pes_here_) return false;
  pushed_ = node_->pushed.exchange(0, std::memory_order_relaxed);  // before `ended`, which the next phase awaits
  return true;
}

std::size_t node_hop::close(std::size_t from_channel) {
  for (std::size_t channel = from_channel; channel < out_.size(); ++channel) {
    if (sizes_.reserved == 0 && !room(channel)) return channel;
    close_buffer(out_[channel], &pushed_);
  }
  node_->ended.store(phase_, std::memory_order_release);
  world_.memory().ring_node();
  return out_.size();
}

bool node_hop::arrived(const incoming& in) const {
  return !in.at.finished && std::atomic_ref(const_cast<std::uint64_t&>(in.ready[in.at.read % sizes_.per_channel]))
                                    .load(std::memory_order_acquire) == in.at.read + 1;
}

bool node_hop::anything_arrived() const {
  return std::ranges::any_of(in_, [&](const incoming& in) { return arrived(in) && !in.at.refused; });
}

bool node_hop::consume() {
  bool any = false;
  for (incoming& in : in_) {
    const channel_reading before = in.at;
    while (arrived(in) &&
           unload(in.at, in.owner, in.buffers + in.at.read % sizes_.per_channel * sizes_.inter_node_bytes)) {
    }
    any |= in.at.is_beyond(before);
    if (in.at.read == before.read) continue;
    world_.transfers().put_signal(acks_, in.consumed_there, nullptr, 0,
                                  {.word = in.consumed_there, .value = in.at.read, .whole_node = true}, in.owner,
                                  false);
  }
  return any;
}

bool node_hop::over() const {
  if (node_->ended.load(std::memory_order_acquire) < phase_) return false;
  return std::ranges::all_of(in_, [](const incoming& in) { return in.at.finished; }) &&
         std::ranges::all_of(out_, [&](const outgoing& out) {
           if (!out.owned_here) return true;
           const std::uint64_t end = out.shared->end_of_phase.load(std::memory_order_acquire);
           return consumed(out) >= end;
         });
}

void node_hop::reopen() {
  for (incoming& in : in_) in.at.finished = false;
  most_pushed_.store(0, std::memory_order_relaxed);
}

hop::waiting node_hop::waiting_items() const {
  std::uint64_t items = 0;
  for (std::size_t channel = 0; channel < out_.size(); ++channel) items += items_.count(bytes_in_chunk(channel));
  return {.all = items, .inter_node = items};
}

}  // namespace lull::aggregate
