#include "aggregate/producer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "lull/pusher.hpp"

namespace lull::detail {

producer::producer(aggregation& to) : aggregation_(to), last_given_ns_(now_ns()), cpu_begin_ns_(thread_cpu_ns()) {
  const auto& ways = to.pipeline().ways();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> number;  // by hop and channel
  for (const aggregate::first_channel& way : ways) number.try_emplace({way.hop, way.channel}, number.size());
  chunks_.resize(number.size());
  for (const aggregate::first_channel& way : ways) {
    chunk& its = chunks_[number.at({way.hop, way.channel})];
    its.way = way;
    by_pe_.push_back(&its);
    entry_.push_back(&its.at);
  }
  to.producer_comes();
  chunk_bytes_ = to.chunks().chunk_bytes(chunks_.size());
}

producer::~producer() {
  give_all();
  give_memory();
  aggregation_.producer_goes(thread_cpu_ns() - cpu_begin_ns_);
}

void producer::give(chunk& filled) {
  const std::span<const std::byte> items(filled.memory.data(),
                                         static_cast<std::size_t>(filled.at.next - filled.memory.data()));
  if (!items.empty()) aggregation_.append(filled.way, items);
  filled.at.next = filled.memory.data();
}

void producer::give_all() {
  for (chunk& each : chunks_)
    if (each.at.next) give(each);
  last_given_ns_ = now_ns();
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

void producer::turn_over(int pe, std::size_t item_bytes) {
  chunk& full = *by_pe_[static_cast<std::size_t>(pe)];
  aggregation_.pipeline().must_fit(full.way, item_bytes);
  if (full.at.next) give(full);
  const std::size_t stride = aggregation_.pipeline().items().stride;
  const std::size_t most = std::min(chunk_bytes_, aggregation_.pipeline().largest_item(full.way));
  const std::size_t wanted =
      stride == 0 ? std::max(most, item_bytes) : std::max<std::size_t>(most / stride, 1) * stride;
  if (full.memory.size() < wanted) {
    const std::size_t more = wanted - full.memory.size();
    if (!aggregation_.chunks().try_take(more)) {
      give_all();
      give_memory();
      aggregation_.chunks().take(wanted);  // without one chunk no thread gets on
    }
    full.memory.resize(wanted);
  }
  full.at = {full.memory.data(), full.memory.data() + full.memory.size()};
  if (aggregation_.flush_ns() != 0 && now_ns() - last_given_ns_ >= aggregation_.flush_ns()) give_all();
}

void producer::advance() {
  give_all();
  aggregation_.advance();
}

// What templates call.
producer* open_producer(aggregation* a) { return std::make_unique<producer>(*a).release(); }
void close_producer(producer* p) noexcept { delete p; }  // NOLINT(cppcoreguidelines-owning-memory)
cursor* const* cursors_of(producer* p) noexcept { return p->cursors(); }
void turn_over(producer* p, int pe, std::size_t item_bytes) { p->turn_over(pe, item_bytes); }
void advance(producer* p) { p->advance(); }

}  // namespace lull::detail
