#include "aggregate/plan/pipeline.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

#include "aggregate/hops/node_hop.hpp"
#include "aggregate/hops/pe_hop.hpp"

namespace lull::aggregate {

pipeline::pipeline(fabric::world& world, const plan& how, const item_format& items, const sink& last, bool waits,
                   pipeline* replies)
    : world_(world),
      items_(items),
      waits_(waits),
      replies_(replies),
      duty_(std::make_shared<policy_lock>(world)),
      filling_(world) {
  if (replies_) replies_->duty_ = duty_;
  const route way(world.places(), world.pes(), how.how);
  for (int number = 0; number < way.hops(); ++number) {
    sink to = last;
    if (number + 1 != way.hops()) {
      forwarders_.push_back(std::make_unique<forwarder>(forwarder{this, number + 1, {}, {}}));
      to = {&pipeline::pass_on, forwarders_.back().get()};
    }
    if (way.between_nodes(number))
      hops_.push_back(std::make_unique<node_hop>(world, way, number, items_, how.sizes, to));
    else
      hops_.push_back(std::make_unique<pe_hop>(world, way, number, items_, how.sizes, to));
  }
  passed_on_.assign(hops_.size(), 0);
  later_capacity_.assign(hops_.size(), std::numeric_limits<std::size_t>::max());
  for (std::size_t i = hops_.size() - 1; i > 0; --i) {
    later_capacity_[i - 1] = later_capacity_[i];
    for (std::size_t channel = 0; channel < hops_[i]->channels(); ++channel)
      later_capacity_[i - 1] = std::min(later_capacity_[i - 1], hops_[i]->capacity(channel));
  }
  for (auto& f : forwarders_) f->ways = ways_from(way, f->next_hop);
  ways_ = ways_from(way, 0);
  cursors_.reserve(ways_.size());
  std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const first_channel& first : ways_) {
    cursors_.push_back(first.at);
    largest = std::min(largest, max_item_bytes(first));
  }
  max_item_bytes_ = largest - items_.head;
}

pipeline::~pipeline() = default;

void pipeline::let_threads_help() {
  may_help_ = true;
  hops_.back()->share_channels(replies_ ? replies_->hops_.back().get() : nullptr);
}

std::vector<first_channel> pipeline::ways_from(const route& way, int hop) {
  const pe_id me = world_.me();
  const job::layout& layout = world_.places();
  std::vector<std::vector<pe_id>> targets(hops_.size());
  std::vector<std::vector<node_id>> nodes(hops_.size());
  for (int i = 0; i < way.hops(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (way.between_nodes(i))
      nodes[at] = way.targets(i, layout.my_node());
    else
      targets[at] = way.targets(i, me);
  }
  std::vector<first_channel> ways;
  ways.reserve(static_cast<std::size_t>(world_.pes()));
  for (int pe = 0; pe < world_.pes(); ++pe) {
    const auto step = way.next(hop, me, pe_id{pe});
    const auto at = static_cast<std::size_t>(step.hop);
    const auto channel = static_cast<std::size_t>(
        way.between_nodes(step.hop) ? std::ranges::lower_bound(nodes[at], layout.node_of(step.next)) - nodes[at].begin()
                                    : std::ranges::lower_bound(targets[at], step.next) - targets[at].begin());
    ways.push_back(
        {hops_[at]->cursors() + channel, static_cast<std::uint32_t>(step.hop), static_cast<std::uint32_t>(channel)});
  }
  return ways;
}

std::size_t pipeline::max_item_bytes(const first_channel& way) const {
  return std::min(hops_[way.hop]->capacity(way.channel), later_capacity_[way.hop]);
}

void pipeline::must_fit(const first_channel& way, std::size_t item_bytes) const {
  if (items_.stride != 0) return;
  if (const std::size_t largest = max_item_bytes(way); item_bytes > largest)
    throw std::length_error("an item of " + std::to_string(item_bytes) +
                            " bytes does not fit an aggregation buffer of " + std::to_string(largest) +
                            " bytes; raise LULL_AGGREGATE_BUFFER_BYTES");
}

bool pipeline::make_room(const first_channel& way, std::size_t bytes) {
  filling_lock filling(filling_);
  return make_room(filling, way, bytes);
}

bool pipeline::make_room(filling_lock& filling, const first_channel& way, std::size_t bytes) {
  bool any_sent = false;
  while (!way.fits(bytes)) {
    const auto [room, sent] = hops_[way.hop]->make_room(way.channel);
    any_sent |= sent;
    if (room) continue;
    if (!waits_) break;
    wait_for_room(filling, way.hop, way.channel);
  }
  return any_sent;
}

bool pipeline::append(const first_channel& way, std::span<const std::byte> items) {
  hop& to = *hops_[way.hop];
  filling_lock filling(filling_);
  const std::uint64_t before = to.counts().buffers;
  while (!items.empty()) {
    const std::size_t bytes = to.append(way.channel, items);
    items = items.subspan(bytes);
    if (bytes == 0) wait_for_room(filling, way.hop, way.channel);
  }
  return to.counts().buffers != before;
}

// Holds filling() while it detaches tags and appends their items, so that tags are stored in the order of the items and
// before any item leaves.
bool pipeline::append(const first_channel& way, int pe, const tagged_items& how, std::span<const std::byte> items) {
  const hop& to = *hops_[way.hop];
  filling_lock filling(filling_);
  const std::uint64_t before = to.counts().buffers;
  while (!items.empty()) {
    make_room(filling, way, items_.stride);
    const std::size_t room = static_cast<std::size_t>(way.at->end - way.at->next) / items_.stride;
    const std::size_t count = std::min(room, items.size() / how.bytes);
    how.detach(how.handler, items.data(), count, pe, way.at->next);
    way.at->next += count * items_.stride;
    items = items.subspan(count * how.bytes);
  }
  return to.counts().buffers != before;
}

bool pipeline::room(const first_channel& way) const { return hops_[way.hop]->room(way.channel); }

void pipeline::flush() {
  for (std::size_t number = 0; number < hops_.size(); ++number) {
    filling_lock filling(filling_);
    flush(filling, number);
  }
  if (replies_) replies_->flush();
}

template <class Each>
void pipeline::for_channels(filling_lock& filling, std::size_t hop, Each&& each) {
  const std::size_t channels = hops_[hop]->channels();
  for (std::size_t channel = each(0); channel != channels; channel = each(channel))
    wait_for_room(filling, hop, channel);
}

bool pipeline::flush(filling_lock& filling, std::size_t hop) {
  bool all = true;
  for_channels(filling, hop, [&](std::size_t from) {
    std::size_t channel = hops_[hop]->flush(from);
    for (; !waits_ && channel != hops_[hop]->channels(); channel = hops_[hop]->flush(channel + 1)) all = false;
    return channel;
  });
  return all;
}

std::size_t pipeline::pass_on(void* self, const batch& items) {
  forwarder& on = *static_cast<forwarder*>(self);
  pipeline& p = *on.self;
  const std::byte* at = items.items;
  const std::byte* const end = at + p.items_.bytes(items.count);
  filling_lock filling(p.filling_);
  while (at != end) {
    const std::size_t bytes = p.items_.size_of(at);
    const first_channel& way = on.ways[item_format::address_of(at)];
    if (!way.fits(bytes)) p.make_room(filling, way, bytes);
    if (!way.fits(bytes)) {
      on.refused.push_back(way);
      break;
    }
    std::memcpy(way.at->next, at, bytes);
    way.at->next += bytes;
    at += bytes;
    ++p.passed_on_[way.hop];
  }
  return p.items_.count(static_cast<std::size_t>(at - items.items));
}

bool pipeline::consume(int from_hop) {
  bool any = false;
  if (world_.places().nodes() > 1) world_.transfers().drive();
  for (const auto& f : forwarders_) f->refused.clear();
  for (auto i = static_cast<std::size_t>(from_hop); i < hops_.size(); ++i) any |= hops_[i]->consume();
  if (replies_) any |= replies_->consume();
  return any;
}

bool pipeline::help() {
  const bool any = may_help_ && hops_.back()->consume();
  return (replies_ && replies_->help()) || any;
}

bool pipeline::anything_arrived(int from_hop) const {
  for (auto i = static_cast<std::size_t>(from_hop); i < hops_.size(); ++i)
    if (hops_[i]->anything_arrived()) return true;
  return replies_ && replies_->anything_arrived();
}

void pipeline::wait_for_room(filling_lock& filling, std::size_t hop, std::size_t channel) {
  const auto ready = [&, &full = *hops_[hop]] { return full.room(channel); };
  const int first = static_cast<int>(hop);
  const auto move_on = [&] {
    while (!ready())
      if (!consume(first)) duty_->wait([&] { return ready() || anything_arrived(first); });
  };
  filling.unlock();
  if (!duty_->is_mine())
    while (!ready() && help()) {
    }
  if (duty_->is_mine()) {
    move_on();
  } else if (duty_->lock_unless(ready)) {
    move_on();
    duty_->unlock();
  }
  filling.lock();
}

bool pipeline::could_do_more() const {
  for (const auto& h : hops_)
    if (h->anything_arrived() || h->could_send_more()) return true;
  for (const auto& f : forwarders_)
    for (const first_channel& way : f->refused)
      if (hops_[way.hop]->room(way.channel)) return true;
  return false;
}

bool pipeline::try_close(std::size_t hop, std::uint64_t pushed) {
  filling_lock filling(filling_);
  if (!waits_ && !flush(filling, hop)) return false;
  auto& closing = *hops_[hop];
  for_channels(filling, hop, [&](std::size_t from) { return closing.write_all(from); });
  if (closing.begin_close(pushed)) for_channels(filling, hop, [&](std::size_t from) { return closing.close(from); });
  return true;
}

void pipeline::reopen() {
  for (auto& h : hops_) h->reopen();
}

std::uint64_t pipeline::pushed() const {
  std::uint64_t items = threads_ ? threads_->counts().items : 0;
  for (const auto& h : hops_) items += h->counts().items + h->waiting_items().all;
  return items - std::accumulate(passed_on_.begin(), passed_on_.end(), std::uint64_t{0});
}

// Behind the last hop with channels between nodes, channels within the node hold items for their own PE. Elsewhere an
// item may go on to another node.
std::uint64_t pipeline::pushed_within_node() const {
  std::uint64_t items = threads_ ? threads_->counts().items : 0;
  for (std::size_t i = hops_.size(); i-- != 0;) {
    const hop& h = *hops_[i];
    const auto waiting = h.waiting_items();
    const std::uint64_t all = h.counts().items + waiting.all,
                        others = h.counts().inter_node_items + waiting.inter_node + passed_on_[i];
    if (all > others) items += all - others;
    if (h.reaches_other_nodes()) break;
  }
  return items;
}

hop_counts pipeline::counts() const {
  hop_counts all = threads_ ? threads_->counts() : hop_counts{};
  for (const auto& h : hops_) all += h->counts();
  return all;
}

}  // namespace lull::aggregate
