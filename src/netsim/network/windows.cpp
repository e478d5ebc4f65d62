#include "netsim/network/windows.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace lull::netsim {
namespace {

// The order of the events of one logical process.
constexpr bool before(const event& x, const event& y) { return x.when != y.when ? x.when < y.when : x.a < y.a; }
constexpr auto later = [](const event& x, const event& y) { return before(y, x); };

// Orders events by logical process, then by time and by the bits of the caller; `a` decides ties.
std::uint64_t rank_of(const event& e) { return std::uint64_t{e.lp} << 32U | e.when; }

}  // namespace

windows::windows(std::uint32_t lps, unsigned window_bits)
    : bits_(window_bits),
      time_mask_((std::uint32_t{1} << window_bits) - 1),
      places_(lps + std::size_t{1}),
      counts_(lps),
      has_events_((lps + 63) / 64) {
  for (auto& slots : slots_) slots.resize(slot_count);
}

void windows::schedule_now(std::uint32_t when, std::uint32_t lp, std::uint32_t a, std::uint32_t b) {
  now_.emplace_back();
  std::size_t at = now_.size() - 1;
  const event parts{when, lp, a, b};
  for (; at > 0 && before(parts, now_[(at - 1) / 2]); at = (at - 1) / 2) now_[at] = now_[(at - 1) / 2];
  event& e = now_[at];
  e.when = when;
  e.lp = lp;
  e.a = a;
  e.b = b;
}

void windows::schedule_far(kind k, std::int64_t window, const event& e) {
  assert(window > current_);
  far_.push({window, far_order_++, k, e});
}

void windows::take_first(event& e) {
  std::ranges::pop_heap(now_, later);
  e = now_.back();
  now_.pop_back();
}

void windows::add_chunk(slot& s, unsigned window) {
  if (free_ == nullptr) {
    constexpr std::size_t together = 64;
    owned_.push_back(std::make_unique_for_overwrite<chunk[]>(together));  // NOLINT(modernize-avoid-c-arrays)
    for (std::size_t i = 0; i < together; ++i) free_ = &(owned_.back()[i].next = free_, owned_.back()[i]);
  }
  chunk* const fresh = std::exchange(free_, free_->next);
  fresh->next = nullptr;
  (s.first == nullptr ? s.first : s.last->next) = fresh;
  s.last = fresh;
  s.at = fresh->events.data();
  s.end = s.at + chunk::room;
  occupied_[window / 64] |= std::uint64_t{1} << window % 64;
}

void windows::release_chunks(slot& s) {
  if (s.last != nullptr) s.last->next = std::exchange(free_, s.first);
  s = {};
}

std::int64_t windows::next_occupied() const {
  // The slots after the current one, around the ring.
  const unsigned first = (static_cast<unsigned>(current_) + 1) % slot_count;
  for (unsigned looked = 0; looked < slot_count + 64;) {
    const unsigned at = (first + looked) % slot_count;
    const std::uint64_t rest = occupied_[at / 64] >> at % 64;
    if (rest != 0) return current_ + 1 + looked + std::countr_zero(rest);
    looked += 64 - at % 64;
  }
  return -1;
}

std::int64_t windows::next() const {
  const std::int64_t far = far_.empty() ? no_window : far_.top().window;
  const std::int64_t near = next_occupied();
  return near < 0 ? far : std::min(near, far);
}

void windows::open(std::int64_t window) {
  assert(now_.empty() && window <= next());
  current_ = window;
  begin_ = current_ << bits_;
  const unsigned slot = static_cast<unsigned>(current_) % slot_count;
  for (; !far_.empty() && far_.top().window == current_; far_.pop()) append(far_.top().k, slot, far_.top().what);
  sort(slot);
  for (auto& slots : slots_) release_chunks(slots[slot]);
  occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

// A counting sort: visits logical processes in order of number, and only those with events.
void windows::sort(unsigned window) {
  const auto each = [&](kind k, auto&& with) {
    const slot& due = slots_[k][window];
    for (const chunk* c = due.first; c != nullptr; c = c->next)
      for (const event& e : due.events_in(*c)) with(e);
  };
  for (const kind k : {packets, timers})
    each(k, [&](const event& e) {
      ++counts_[e.lp][k];
      has_events_[e.lp / 64] |= std::uint64_t{1} << e.lp % 64;
    });
  const of_each_kind most = find_places();
  for (const kind k : {packets, timers}) {
    const std::uint32_t all = places_[lps_].first[k];
    if (sorted_[k].size() < all) sorted_[k].resize(2 * std::size_t{all});
    event* const sorted = sorted_[k].data();
    each(k, [&](const event& e) { sorted[counts_[e.lp][k]++] = e; });
    if (most[k] <= 1) continue;
    if (most[k] <= few && all < 4 * lps_)
      order_few({sorted, all});
    else
      order_each(k);
  }
  for (std::size_t n = 0; n < lps_; ++n) counts_[places_[n].lp] = {};
}

// Replaces each count by the index at which its events begin; returns the most events at one logical process.
windows::of_each_kind windows::find_places() {
  place* to = places_.data();
  of_each_kind sum{};
  of_each_kind most{};
  for (std::uint32_t word = 0; word < has_events_.size(); ++word)
    for (std::uint64_t left = std::exchange(has_events_[word], 0); left != 0; left &= left - 1) {
      const std::uint32_t lp = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
      const of_each_kind its = std::exchange(counts_[lp], sum);
      *to++ = {lp, sum};
      for (const kind k : {packets, timers}) {
        sum[k] += its[k];
        most[k] = std::max(most[k], its[k]);
      }
    }
  lps_ = static_cast<std::size_t>(to - places_.data());
  *to = {0, sum};
  return most;
}

// For sparse traffic: few events are out of order, and those of one logical process end where the next begin.
void windows::order_few(std::span<event> events) {
  std::uint64_t last = rank_of(events[0]);
  for (std::size_t i = 1; i < events.size(); ++i) {
    const std::uint64_t rank = rank_of(events[i]);
    if (rank > last || (rank == last && events[i].a >= events[i - 1].a)) [[likely]] {
      last = rank;
      continue;
    }
    const event moved = events[i];
    const auto belongs_behind = [&](const event& e) {
      const std::uint64_t its = rank_of(e);
      return its > rank || (its == rank && e.a > moved.a);
    };
    std::size_t to = i;
    do {
      events[to] = events[to - 1];
      --to;
    } while (to > 0 && belongs_behind(events[to - 1]));
    events[to] = moved;
  }
}

void windows::order_each(kind k) {
  for (std::size_t n = 0; n < lps_; ++n)
    order({sorted_[k].data() + places_[n].first[k], sorted_[k].data() + places_[n + 1].first[k]});
}

// Sorts the events of one logical process.
void windows::order(std::span<event> events) {
  const std::size_t n = events.size();
  if (n <= 2) {
    if (n == 2 && later(events[0], events[1])) std::swap(events[0], events[1]);
    return;
  }
  if (n > few) return order_many(events);
  std::array<event, few> unordered;
  std::array<std::int32_t, few> keys;  // time and bits of the caller, then position
  for (std::size_t i = 0; i < n; ++i) {
    unordered[i] = events[i];
    keys[i] = static_cast<std::int32_t>(events[i].when << 5U | i);
  }
  const std::size_t padded = (n + 3) / 4 * 4;
  for (std::size_t i = n; i < padded; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t rank = 0;
    for (std::size_t j = 0; j < padded; ++j) rank += keys[j] < keys[i] ? 1 : 0;
    events[static_cast<std::size_t>(rank)] = unordered[i];
  }
  order_ties(events);
}

// Completes an order by time and bits of the caller alone.
void windows::order_ties(std::span<event> events) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (!before(events[i], events[i - 1])) [[likely]]
      continue;
    const event moved = events[i];
    std::size_t to = i;
    for (; to > 0 && before(moved, events[to - 1]); --to) events[to] = events[to - 1];
    events[to] = moved;
  }
}

// Divides the window into equal parts, so many that few events share one, and sorts by counting the events of each
// part.
void windows::order_many(std::span<event> events) {
  const unsigned parts_bits = std::min(static_cast<unsigned>(std::bit_width(events.size())), bits_);
  const unsigned shift = 2 + bits_ - parts_bits;
  parts_.assign(std::size_t{1} << parts_bits, 0);
  for (const event& e : events) ++parts_[e.when >> shift];
  if (std::ranges::max(parts_) > few) {  // many events are close together
    std::ranges::stable_sort(events, before);
    return;
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& part : parts_) sum += std::exchange(part, sum);
  unordered_.assign(events.begin(), events.end());
  for (const event& e : unordered_) events[parts_[e.when >> shift]++] = e;
  order_few(events);
}

void windows::cut_off(picoseconds end) {
  std::size_t lps = 0;
  of_each_kind seen{};  // in sorted_
  of_each_kind kept{};
  for (std::size_t n = 0; n < lps_; ++n) {
    const of_each_kind begins = kept;
    for (const kind k : {packets, timers})
      for (std::uint32_t i = std::exchange(seen[k], places_[n + 1].first[k]); i < seen[k]; ++i) {
        if (time_of(sorted_[k][i]) > end) break;
        sorted_[k][kept[k]++] = sorted_[k][i];
      }
    if (kept != begins) places_[lps++] = {places_[n].lp, begins};
  }
  lps_ = lps;
  places_[lps] = {0, kept};
}

}  // namespace lull::netsim
