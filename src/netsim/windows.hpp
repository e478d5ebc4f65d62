// The event queue: simulated time cut into windows, each sorted when it is opened, by place and then by time.
//
// A *place* is a switch together with the interfaces of its nodes. Nothing that happens at one place can change another
// sooner than the look-ahead of the network (a cable and a switch away, or a credit's way back). So with windows no longer
// than the look-ahead, all events of one place in a window can be handled in a row, in order of time, and its records stay
// in the nearest cache. Whatever an event causes elsewhere lies in a later window.
//
// Events of near windows are appended to chunks of their window, without order; far ones wait in a heap. Order among
// events of one place and time is the order in which they were scheduled, so a run repeats to the bit.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "netsim/routing.hpp"

namespace lull::netsim {

struct event {
  std::uint32_t place;
  std::uint32_t when;  // picoseconds into the window << 3 | what
  std::uint32_t a;
  std::uint32_t b;
};

class windows {
 public:
  static constexpr unsigned most_bits = 20;  // the longest window: about a microsecond

  windows(std::uint32_t places, unsigned window_bits) : bits_(window_bits), ends_(places + 1), slots_(slot_count) {}

  [[nodiscard]] picoseconds length() const { return picoseconds{1} << bits_; }
  [[nodiscard]] picoseconds begin() const { return current_ << bits_; }
  [[nodiscard]] picoseconds time_of(const event& e) const { return begin() + (e.when >> 3U); }
  [[nodiscard]] static unsigned what(const event& e) { return e.when & 7U; }
  [[nodiscard]] std::uint64_t scheduled() const { return scheduled_; }

  // Schedules in a later window, or in the window that is open, then for the place whose turn it is.
  void schedule(picoseconds at, std::uint32_t place, unsigned what, std::uint32_t a, std::uint32_t b) {
    const std::int64_t window = at >> bits_;
    const auto when = static_cast<std::uint32_t>(at & (length() - 1)) << 3U | what;
    const event e{place, when, a, b};
    if (static_cast<std::uint64_t>(window - current_ - 1) < slot_count - 1) [[likely]]
      append(static_cast<unsigned>(window) & slot_mask, e);
    else if (window == current_)
      now_.push_back(e), std::ranges::push_heap(now_, later);
    else
      far_.push({window, scheduled_, e});
    ++scheduled_;
  }

  // Opens the next window that has events; false when there is none.
  bool open();

  // The events of the open window, by place and time. Those scheduled meanwhile for the place in turn come by `sooner`.
  [[nodiscard]] std::span<const event> events() const { return sorted_; }

  // Whether an event scheduled in this window for the place in turn comes before `when`; if so, takes it.
  bool sooner(std::uint32_t when, event& e) {
    if (now_.empty() || (now_.front().when >> 3U) >= (when >> 3U)) [[likely]]
      return false;
    return take(e);
  }
  bool take(event& e) {
    if (now_.empty()) return false;
    std::ranges::pop_heap(now_, later);
    e = now_.back();
    now_.pop_back();
    return true;
  }

 private:
  static constexpr unsigned slot_count = 512;
  static constexpr unsigned slot_mask = slot_count - 1;
  static constexpr unsigned chunk_events = 255;
  struct chunk {
    chunk* before;
    std::uint32_t used;
    event events[chunk_events];
  };
  struct slot {
    chunk* last = nullptr;
    std::uint32_t count = 0;
  };
  struct far_event {
    std::int64_t window;
    std::uint64_t order;
    event what;
    bool operator<(const far_event& other) const {  // for a heap whose top is the earliest
      return window != other.window ? window > other.window : order > other.order;
    }
  };
  static bool later(const event& x, const event& y) { return (x.when >> 3U) > (y.when >> 3U); }

  void append(unsigned which, const event& e) {
    slot& s = slots_[which];
    if (s.last == nullptr || s.last->used == chunk_events) [[unlikely]] {
      s.last = fresh_chunk(s.last);
      occupied_[which / 64] |= std::uint64_t{1} << which % 64;
    }
    s.last->events[s.last->used++] = e;
    ++s.count;
  }
  chunk* fresh_chunk(chunk* before) {
    if (free_ == nullptr) {
      owned_.push_back(std::make_unique<chunk>());
      free_ = owned_.back().get();
      free_->before = nullptr;
    }
    chunk* c = free_;
    free_ = c->before;
    c->before = before;
    c->used = 0;
    return c;
  }
  [[nodiscard]] std::int64_t next_occupied() const;
  void sort(slot& s);

  unsigned bits_;
  std::int64_t current_ = -1;
  std::uint64_t scheduled_ = 0;
  std::vector<std::uint32_t> ends_;  // by place, while sorting
  std::vector<slot> slots_;
  std::uint64_t occupied_[slot_count / 64] = {};
  std::vector<event> sorted_;
  std::vector<event> now_;  // heap
  std::vector<std::uint64_t> keys_;
  std::priority_queue<far_event> far_;
  std::vector<std::unique_ptr<chunk>> owned_;
  chunk* free_ = nullptr;
};

}  // namespace lull::netsim
