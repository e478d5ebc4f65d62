// The event queue: simulated time cut into windows, each sorted when it is opened, by logical process and then by time.
//
// A *logical process* is a switch together with the interfaces of its nodes. Nothing that happens at one logical
// process can change another sooner than the look-ahead of the network (a cable and a switch away, or a credit's way
// back). So with windows no longer than the look-ahead, all events of one logical process in a window can be handled in
// a row, in order of time, and its records stay in the nearest cache. Whatever an event causes elsewhere lies in a
// later window.
//
// There are two kinds of event, arrivals of *packets* and *timers* for everything else, kept apart so that loops over
// one kind need not ask which it is. Events of near windows are appended to their window, without order; far ones wait
// in a heap. What happens at one logical process and time is ordered by when it was scheduled (arrivals first, far ones
// last), so a run repeats to the bit.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "netsim/routing.hpp"

namespace lull::netsim {

struct event {
  std::uint32_t when;  // picoseconds into the window << 2 | the caller's own two bits
  std::uint32_t lp;
  std::uint32_t a;
  std::uint32_t b;
};

class windows {
 public:
  static constexpr unsigned most_bits = 20;  // the longest window: about a microsecond
  enum kind : unsigned { packets, timers };

  windows(std::uint32_t lps, unsigned window_bits);

  [[nodiscard]] picoseconds length() const { return picoseconds{1} << bits_; }
  [[nodiscard]] picoseconds begin() const { return begin_; }
  [[nodiscard]] picoseconds time_of(const event& e) const { return begin_ + (e.when >> 2U); }
  [[nodiscard]] static unsigned what(const event& e) { return e.when & 3U; }

  // Schedules in a later window. A timer may also lie in the open window, for the logical process whose turn it is.
  template <kind k>
  void schedule(picoseconds at, std::uint32_t lp, unsigned what, std::uint32_t a, std::uint32_t b) {
    const std::int64_t window = at >> bits_;
    const std::uint32_t when = (static_cast<std::uint32_t>(at) & time_mask_) << 2U | what;
    if (static_cast<std::uint64_t>(window - current_ - 1) < slot_count - 1) [[likely]]
      return append(k, static_cast<unsigned>(window) % slot_count, {when, lp, a, b});
    if (window != current_) return schedule_far(k, window, {when, lp, a, b});
    assert(k == timers);
    schedule_now(when, lp, a, b);
  }

  // Opens the next window that has events; false when there is none.
  bool open();

  // The open window's events at the n-th logical process that has any, in order of time. Timers scheduled meanwhile for
  // the logical process in turn come by `sooner`.
  [[nodiscard]] std::size_t lps() const { return lps_; }
  [[nodiscard]] std::uint32_t lp(std::size_t n) const { return places_[n].lp; }
  [[nodiscard]] std::span<const event> events(kind k, std::size_t n) const {
    return {sorted_[k].data() + places_[n].first[k], sorted_[k].data() + places_[n + 1].first[k]};
  }
  // The same events as one row, and where in it those of the n-th logical process end.
  [[nodiscard]] std::span<const event> events(kind k) const { return {sorted_[k].data(), places_[lps_].first[k]}; }
  [[nodiscard]] std::uint32_t end_of(kind k, std::size_t n) const { return places_[n + 1].first[k]; }
  [[nodiscard]] std::size_t count() const {
    return std::size_t{places_[lps_].first[packets]} + places_[lps_].first[timers];
  }
  // Forgets events of the open window after `end`.
  void cut_off(picoseconds end);

  // Whether a timer scheduled in this window for the logical process in turn comes before `when`; if so, takes it.
  bool sooner(std::uint32_t when, event& e) {
    if (now_.empty() || (now_.front().when >> 2U) >= (when >> 2U)) [[likely]]
      return false;
    return take(e);
  }
  bool take(event& e) {
    if (now_.empty()) [[likely]]
      return false;
    take_first(e);
    return true;
  }

 private:
  static constexpr unsigned slot_count = 512;
  static constexpr std::uint32_t few = 32;  // events that are put in order one by one
  struct far_event {
    std::int64_t window;
    std::uint64_t order;
    kind k;
    event what;
    bool operator<(const far_event& other) const {  // for a heap whose top is the earliest
      return window != other.window ? window > other.window : order > other.order;
    }
  };
  // A piece of a window to come. They are used again, so that the memory is that of the events there are, and warm.
  struct chunk {
    static constexpr std::uint32_t room = 63;
    chunk* next;
    std::array<event, room> events;
  };
  // The chunks of a window; all but the last are full.
  struct slot {
    chunk* first = nullptr;
    chunk* last = nullptr;
    event* at = nullptr;   // where the next event of it goes
    event* end = nullptr;  // of the last chunk
    [[nodiscard]] std::span<const event> events_in(const chunk& c) const {
      return {c.events.data(), &c == last ? at : c.events.data() + chunk::room};
    }
  };
  using of_each_kind = std::array<std::uint32_t, 2>;
  // A logical process that has events in the open window, and where in `sorted_` they begin.
  struct place {
    std::uint32_t lp = 0;
    of_each_kind first{};
  };

  void append(kind k, unsigned window, const event& e) {
    slot& s = slots_[k][window];
    if (s.at == s.end) [[unlikely]]
      add_chunk(s, window);
    *s.at++ = e;
  }
  void add_chunk(slot& s, unsigned window);
  void release_chunks(slot& s);
  // Of the open window. In words, not as an event: to read one as a whole that was just written by parts takes long.
  void schedule_now(std::uint32_t when, std::uint32_t lp, std::uint32_t a, std::uint32_t b);
  void schedule_far(kind k, std::int64_t window, const event& e);
  [[nodiscard]] std::int64_t next_occupied() const;
  void take_first(event& e);
  void sort(unsigned window);
  [[nodiscard]] of_each_kind find_places();
  static void order_few(std::span<event> events);
  void order_each(kind k);
  void order(std::span<event> events);
  void order_many(std::span<event> events);

  unsigned bits_;
  std::uint32_t time_mask_;  // of a time, what lies within a window
  std::int64_t current_ = -1;
  picoseconds begin_ = 0;
  std::array<std::vector<slot>, 2> slots_;       // of windows to come, unordered
  std::array<std::vector<event>, 2> sorted_;     // of the open window; what it does not need is left over
  std::vector<place> places_;                    // behind the last, where all end
  std::size_t lps_ = 0;                          // of `places_`
  std::vector<std::unique_ptr<chunk[]>> owned_;  // NOLINT(modernize-avoid-c-arrays)
  chunk* free_ = nullptr;
  std::array<std::uint64_t, slot_count / 64> occupied_{};
  std::vector<of_each_kind> counts_;       // by logical process; zero but while sorting
  std::vector<std::uint64_t> has_events_;  // logical processes, a bit each; the same
  std::vector<std::uint32_t> parts_;       // while sorting
  std::vector<event> unordered_;           // the same
  std::vector<event> now_;                 // heap
  std::priority_queue<far_event> far_;
  std::uint64_t far_order_ = 0;
};

}  // namespace lull::netsim
