#include "netsim/windows.hpp"

#include <bit>
#include <limits>
#include <utility>

namespace lull::netsim {
namespace {

bool before(const event& x, const event& y) { return (x.when >> 2U) < (y.when >> 2U); }
bool later(const event& x, const event& y) { return before(y, x); }

}  // namespace

windows::windows(std::uint32_t lps, unsigned window_bits) : bits_(window_bits), has_events_((lps + 63) / 64) {
  for (stream& s : streams_) {
    s.slots.resize(slot_count);
    s.counts.resize(lps);
  }
}

void windows::schedule_elsewhere(kind k, std::int64_t window, const event& e) {
  if (window == current_) {
    assert(k == timers);
    now_.push_back(e);
    std::ranges::push_heap(now_, later);
  } else {
    assert(window > current_);
    far_.push({window, far_order_++, k, e});
  }
}

bool windows::take(event& e) {
  if (now_.empty()) return false;
  std::ranges::pop_heap(now_, later);
  e = now_.back();
  now_.pop_back();
  return true;
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

bool windows::open() {
  assert(now_.empty());
  std::int64_t next = next_occupied();
  if (next < 0 || (!far_.empty() && far_.top().window < next)) {
    if (far_.empty()) return false;
    next = far_.top().window;
  }
  current_ = next;
  begin_ = current_ << bits_;
  const unsigned slot = static_cast<unsigned>(current_) % slot_count;
  for (; !far_.empty() && far_.top().window == current_; far_.pop()) append(far_.top().k, slot, far_.top().what);
  sort(slot);
  for (stream& s : streams_) release_chunks(s.slots[slot]);
  occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  return true;
}

// By counting: logical processes are visited in order of number, and only those with events.
void windows::sort(unsigned window) {
  for (stream& s : streams_) {
    std::uint32_t* const counts = s.counts.data();
    const slot& due = s.slots[window];
    for (const chunk* c = due.first; c != nullptr; c = c->next)
      for (const event& e : due.events_in(*c)) {
        ++counts[e.lp];
        has_events_[e.lp / 64] |= std::uint64_t{1} << e.lp % 64;
      }
  }
  active_.clear();
  for (std::uint32_t word = 0; word < has_events_.size(); ++word)
    for (std::uint64_t left = std::exchange(has_events_[word], 0); left != 0; left &= left - 1)
      active_.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
  for (const kind k : {packets, timers}) sort(k, streams_[k].slots[window]);
}

void windows::sort(kind k, const slot& due) {
  stream& s = streams_[k];
  std::uint32_t* const counts = s.counts.data();
  std::uint32_t sum = 0;
  for (const std::uint32_t lp : active_) sum += std::exchange(counts[lp], sum);
  by_lp_.resize(sum);
  s.sorted.resize(sum);
  event* const by_lp = by_lp_.data();
  for (const chunk* c = due.first; c != nullptr; c = c->next)
    for (const event& e : due.events_in(*c)) by_lp[counts[e.lp]++] = e;
  s.bounds.assign(1, 0);
  for (const std::uint32_t lp : active_) {
    const std::uint32_t end = std::exchange(counts[lp], 0);
    const std::uint32_t begin = s.bounds.back();
    sort_by_time({by_lp + begin, by_lp + end}, s.sorted.data() + begin);
    s.bounds.push_back(end);
  }
}

void windows::sort_by_time(std::span<const event> events, event* sorted) {
  constexpr std::size_t few = 32;
  const std::size_t n = events.size();
  if (n <= 2) {  // as most are where traffic is sparse
    if (n == 0) return;
    const std::size_t swapped = n == 2 && before(events[1], events[0]) ? 1 : 0;
    sorted[swapped] = events[0];
    if (n == 2) sorted[1 - swapped] = events[1];
    return;
  }
  if (n > few) {
    times_.resize(n);  // time, then position
    for (std::size_t i = 0; i < n; ++i) times_[i] = std::uint64_t{events[i].when >> 2U} << 32U | i;
    std::ranges::sort(times_);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = events[static_cast<std::uint32_t>(times_[i])];
    return;
  }
  std::array<std::int32_t, few> keys;  // time, then position
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>((events[i].when >> 2U) << 5U | i);
  const std::size_t padded = (n + 3) / 4 * 4;
  for (std::size_t i = n; i < padded; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t rank = 0;
    for (std::size_t j = 0; j < padded; ++j) rank += keys[j] < keys[i] ? 1 : 0;
    sorted[rank] = events[i];
  }
}

void windows::cut_off(picoseconds end) {
  std::size_t lps = 0;
  std::array<std::uint32_t, 2> seen{};  // of sorted
  std::array<std::uint32_t, 2> kept{};
  for (std::size_t n = 0; n < active_.size(); ++n) {
    bool any = false;
    for (const kind k : {packets, timers}) {
      stream& s = streams_[k];
      for (std::uint32_t i = std::exchange(seen[k], s.bounds[n + 1]); i < seen[k]; ++i) {
        if (time_of(s.sorted[i]) > end) break;
        s.sorted[kept[k]++] = s.sorted[i];
        any = true;
      }
      s.bounds[lps + 1] = kept[k];
    }
    if (any) active_[lps++] = active_[n];
  }
  active_.resize(lps);
  for (const kind k : {packets, timers}) streams_[k].sorted.resize(kept[k]);
}

}  // namespace lull::netsim
