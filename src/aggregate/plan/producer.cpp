#include "aggregate/plan/producer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "lull/pusher.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {
namespace {

constexpr std::size_t usual_chunk = 1024;

}  // namespace

producer::producer(aggregation& to, aggregate::thread_exchange& inside)
    : aggregation_(to), inside_(inside), rings_(inside.make_rings()) {
  const auto& ways = to.pipeline().ways();
  const auto here = static_cast<std::size_t>(to.me());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> number;  // by hop and channel
  for (std::size_t pe = 0; pe < ways.size(); ++pe)
    if (pe != here) number.try_emplace({ways[pe].hop, ways[pe].channel}, number.size());
  chunks_.resize(number.size());
  for (std::size_t pe = 0; pe < ways.size(); ++pe) {
    if (pe == here) {
      by_pe_.push_back(nullptr);
      entry_.push_back(rings_.at(0));
      continue;
    }
    chunk& its = chunks_[number.at({ways[pe].hop, ways[pe].channel})];
    its.way = ways[pe];
    its.pe = static_cast<int>(pe);
    by_pe_.push_back(&its);
    entry_.push_back(&its.at);
  }
  for (std::size_t part = 0; part < inside.parts(); ++part) entry_.push_back(rings_.at(part));
}

void producer::begin() {
  chunk_bytes_ =
      aggregation_.chunks().bytes_of_each(usual_chunk, 2 * chunks_.size());  // twice: the rings take the other half
  inside_.come(rings_);
  last_given_ns_ = aggregation_.flush_ns() != 0 ? now_ns() : 0;
  cpu_begin_ns_ = thread_cpu_ns();
}

void producer::end() {
  give_all();
  inside_.go(rings_);
  if (!aggregation_.chunks().exceeded()) return;
  give_memory();
  inside_.give_memory(rings_);
}

std::int64_t producer::cpu_ns() const { return thread_cpu_ns() - cpu_begin_ns_; }

void producer::give(chunk& filled) {
  const std::span<const std::byte> items(filled.memory.data(),
                                         static_cast<std::size_t>(filled.at.next - filled.memory.data()));
  if (!items.empty()) aggregation_.append(filled.way, filled.pe, items);
  filled.at.next = filled.memory.data();
}

void producer::give_all() {
  for (chunk& each : chunks_)
    if (each.at.next) give(each);
  inside_.give(rings_);
  if (aggregation_.flush_ns() != 0) last_given_ns_ = now_ns();
}

void producer::give_memory() {
  std::size_t bytes = 0;
  for (chunk& each : chunks_) {
    bytes += each.memory.size();
    each.memory = {};
    each.at = {};
  }
  aggregation_.chunks().give(bytes);
}

void producer::make_room(int entry, std::size_t item_bytes) {
  const auto at = static_cast<std::size_t>(entry);
  if (at >= by_pe_.size()) return make_room_locally(at - by_pe_.size(), item_bytes);
  if (!by_pe_[at]) return make_room_locally(0, item_bytes);
  chunk& full = *by_pe_[at];
  aggregation_.pipeline().must_fit(full.way, item_bytes);
  if (full.at.next) give(full);
  const std::size_t stride = aggregation_.items_of_threads().stride;
  const std::size_t most = std::min(chunk_bytes_, aggregation_.pipeline().max_item_bytes(full.way));
  const std::size_t wanted =
      stride == 0 ? std::max(most, item_bytes) : std::max<std::size_t>(most / stride, 1) * stride;
  if (full.memory.size() < wanted) {
    const std::size_t more = wanted - full.memory.size();
    if (!aggregation_.chunks().try_take(more)) {
      give_all();
      give_memory();
      aggregation_.chunks().take(wanted);  // a thread cannot proceed without one chunk
    }
    full.memory.resize(wanted);
  }
  full.at = {full.memory.data(), full.memory.data() + full.memory.size()};
  if (aggregation_.flush_ns() != 0 && now_ns() - last_given_ns_ >= aggregation_.flush_ns()) give_all();
}

void producer::make_room_locally(std::size_t part, std::size_t item_bytes) {
  aggregation_.pipeline().must_fit(aggregation_.pipeline().ways()[static_cast<std::size_t>(aggregation_.me())],
                                   item_bytes);
  if (inside_.make_room(rings_, part, item_bytes)) aggregation_.keep_pace_inside();
}

void producer::advance() {
  give_all();
  inside_.tend(rings_);
  aggregation_.advance();
}

// The functions that templates call.
producer* open_producer(aggregation* a) { return &a->producer_comes(); }
void close_producer(producer* p) noexcept { p->belongs_to().producer_goes(*p); }
cursor* const* cursors_of(producer* p) noexcept { return p->cursors(); }
std::size_t parts_of(const producer* p) noexcept { return p->parts(); }
void make_room(producer* p, int entry, std::size_t item_bytes) { p->make_room(entry, item_bytes); }
void advance(producer* p) { p->advance(); }

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
