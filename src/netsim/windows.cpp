#include "netsim/windows.hpp"

#include <bit>

namespace lull::netsim {

std::int64_t windows::next_occupied() const {
  // The slots after the current one, around the ring.
  const unsigned first = (static_cast<unsigned>(current_) + 1) & slot_mask;
  for (unsigned looked = 0; looked < slot_count + 64;) {
    const unsigned at = (first + looked) & slot_mask;
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
  const unsigned which = static_cast<unsigned>(current_) & slot_mask;
  for (; !far_.empty() && far_.top().window == current_; far_.pop()) append(which, far_.top().what);
  sort(slots_[which]);
  occupied_[which / 64] &= ~(std::uint64_t{1} << which % 64);
  return true;
}

void windows::sort(slot& s) {
  sorted_.resize(s.count);
  // Chunks hang together from the last to the first: counting runs in any order, placing from the end keeps the order.
  const auto release = [&] {
    while (s.last != nullptr) {
      chunk* c = s.last;
      s.last = c->before;
      c->before = free_;
      free_ = c;
    }
    s.count = 0;
  };
  const auto from_the_last = [&](auto&& visit) {
    for (const chunk* c = s.last; c != nullptr; c = c->before)
      for (std::uint32_t i = c->used; i-- > 0;) visit(c->events[i]);
  };
  const auto before = [](const event& x, const event& y) { return (x.when >> 3U) < (y.when >> 3U); };
  const std::size_t places = ends_.size() - 1;
  if (s.count < places / 8) {
    std::size_t to = s.count;
    from_the_last([&](const event& e) { sorted_[--to] = e; });
    std::ranges::stable_sort(sorted_, [&](const event& x, const event& y) {
      return x.place != y.place ? x.place < y.place : before(x, y);
    });
    release();
    return;
  }
  std::ranges::fill(ends_, 0);
  from_the_last([&](const event& e) { ++ends_[e.place + 1]; });
  for (std::size_t p = 1; p <= places; ++p) ends_[p] += ends_[p - 1];
  // ends_[p] is where place p begins; after placing backwards from ends_[p + 1], that has become its begin.
  from_the_last([&](const event& e) { sorted_[--ends_[e.place + 1]] = e; });
  release();
  for (std::size_t p = 0; p < places; ++p) {
    const std::size_t first = ends_[p + 1];
    const std::size_t last = p + 2 <= places ? ends_[p + 2] : sorted_.size();
    if (last - first > 48) {
      std::stable_sort(sorted_.begin() + static_cast<std::ptrdiff_t>(first), sorted_.begin() + static_cast<std::ptrdiff_t>(last), before);
      continue;
    }
    for (std::size_t i = first + 1; i < last; ++i) {
      const event e = sorted_[i];
      std::size_t j = i;
      for (; j > first && before(e, sorted_[j - 1]); --j) sorted_[j] = sorted_[j - 1];
      sorted_[j] = e;
    }
  }
}

}  // namespace lull::netsim
