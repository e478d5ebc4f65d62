#include "netsim/windows.hpp"

#include <bit>
#include <utility>

namespace lull::netsim {
namespace {

bool before(const event& x, const event& y) { return (x.when >> 2U) < (y.when >> 2U); }
bool later(const event& x, const event& y) { return before(y, x); }

}  // namespace

windows::windows(std::uint32_t places, unsigned window_bits) : bits_(window_bits), has_events_((places + 63) / 64) {
  for (stream& s : streams_) {
    s.slots.resize(slot_count);
    s.counts.resize(places);
  }
}

void windows::schedule_elsewhere(kind k, std::int64_t window, const event& e) {
  if (window == current_) {
    assert(k == calls);
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

// The memory of windows that are over serves those to come.
void windows::make_room(std::vector<event>& events, unsigned slot) {
  occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
  if (events.capacity() > 0 || spare_.empty()) return events.reserve(std::max<std::size_t>(256, events.capacity() * 2));
  events = std::move(spare_.back());
  spare_.pop_back();
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
  sort({streams_[arrivals].slots[slot], streams_[calls].slots[slot]});
  for (stream& s : streams_) {
    if (s.slots[slot].capacity() == 0) continue;
    s.slots[slot].clear();
    spare_.push_back(std::exchange(s.slots[slot], {}));
  }
  occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  return true;
}

// By counting: places are visited in order of number, and only those with events.
void windows::sort(const std::array<std::span<const event>, 2>& due) {
  for (const kind k : {arrivals, calls}) {
    std::uint32_t* const counts = streams_[k].counts.data();
    for (const event& e : due[k]) {
      ++counts[e.place];
      has_events_[e.place / 64] |= std::uint64_t{1} << e.place % 64;
    }
  }
  active_.clear();
  for (std::uint32_t word = 0; word < has_events_.size(); ++word)
    for (std::uint64_t left = std::exchange(has_events_[word], 0); left != 0; left &= left - 1)
      active_.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
  for (const kind k : {arrivals, calls}) {
    stream& s = streams_[k];
    std::uint32_t* const counts = s.counts.data();
    std::uint32_t sum = 0;
    for (const std::uint32_t place : active_) sum += std::exchange(counts[place], sum);
    s.sorted.resize(due[k].size());
    event* const sorted = s.sorted.data();
    for (const event& e : due[k]) sorted[counts[e.place]++] = e;
    s.bounds.assign(1, 0);
    for (const std::uint32_t place : active_) {
      const std::uint32_t end = std::exchange(counts[place], 0);
      sort_by_time({sorted + s.bounds.back(), sorted + end});
      s.bounds.push_back(end);
    }
  }
}

void windows::sort_by_time(std::span<event> events) {
  if (events.size() > 48) {
    std::stable_sort(events.begin(), events.end(), before);
    return;
  }
  for (std::size_t i = 1; i < events.size(); ++i) {
    const event e = events[i];
    std::size_t j = i;
    for (; j > 0 && before(e, events[j - 1]); --j) events[j] = events[j - 1];
    events[j] = e;
  }
}

void windows::cut_off(picoseconds end) {
  std::array<std::vector<event>, 2> kept;
  for (const kind k : {arrivals, calls})
    std::ranges::copy_if(streams_[k].sorted, std::back_inserter(kept[k]), [&](const event& e) { return time_of(e) <= end; });
  sort({kept[arrivals], kept[calls]});
}

}  // namespace lull::netsim
