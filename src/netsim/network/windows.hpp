// The event queue: simulated time is divided into windows, each of which is sorted when it is opened, by logical
// process and then by time.
//
// A *logical process* is a switch together with the interfaces of its nodes. An event at one logical process cannot
// affect another sooner than the look-ahead of the network (the delay of a cable and a switch, or of a returning
// credit). If windows are no longer than the look-ahead, all events of one logical process in a window can be handled
// in a row, in order of time, and its records stay in the nearest cache. All effects on other logical processes fall
// into later windows.
//
// There are two kinds of event, arrivals of *packets* and *timers* for everything else. They are stored separately, so
// that a loop over one kind need not test for it. Events of near windows are appended to their window, unsorted; far
// ones wait in a heap. Events at one logical process and time are ordered by what they are and where they happen:
// arrivals first, then by the two bits of the caller, then by `a`. When they were scheduled decides only between events
// that agree in all of this. The order at one logical process is therefore the same whichever others share its queue,
// and a network can be divided among several queues.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "netsim/routing.hpp"

namespace lull::netsim {

struct event {
  std::uint32_t when;  // picoseconds into the window << 2 | two bits of the caller
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

  // Schedules an event in a later window. A timer of the current logical process may also be in the open window.
  // Inlined in every case: the calls of a hop take a tenth of its instructions otherwise.
  template <kind k>
  [[gnu::always_inline]] void schedule(picoseconds at, std::uint32_t lp, unsigned what, std::uint32_t a,
                                       std::uint32_t b) {
    const std::int64_t window = at >> bits_;
    const std::uint32_t when = (static_cast<std::uint32_t>(at) & time_mask_) << 2U | what;
    if (static_cast<std::uint64_t>(window - current_ - 1) < slot_count - 1) [[likely]]
      return append(k, static_cast<unsigned>(window) % slot_count, {when, lp, a, b});
    if (window != current_) return schedule_far(k, window, {when, lp, a, b});
    assert(k == timers);
    schedule_now(when, lp, a, b);
  }

  static constexpr std::int64_t no_window = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] std::int64_t window_of(picoseconds at) const { return at >> bits_; }
  // The next window that has events.
  [[nodiscard]] std::int64_t next() const;
  // Opens a window, which need not have events. No event may be due in an earlier one.
  void open(std::int64_t window);
  // Opens the next window that has events; returns false if there is none.
  bool open() {
    const std::int64_t window = next();
    if (window == no_window) return false;
    open(window);
    return true;
  }

  // The events of the open window at the n-th logical process that has any, in order of time. `sooner` returns timers
  // that the current logical process has scheduled since the window was opened.
  [[nodiscard]] std::size_t lps() const { return lps_; }
  [[nodiscard]] std::uint32_t lp(std::size_t n) const { return places_[n].lp; }
  [[nodiscard]] std::span<const event> events(kind k, std::size_t n) const {
    return {sorted_[k].data() + places_[n].first[k], sorted_[k].data() + places_[n + 1].first[k]};
  }
  // The same events of all logical processes in a row, and the index in it at which those of the n-th end.
  [[nodiscard]] std::span<const event> events(kind k) const { return {sorted_[k].data(), places_[lps_].first[k]}; }
  [[nodiscard]] std::uint32_t end_of(kind k, std::size_t n) const { return places_[n + 1].first[k]; }
  [[nodiscard]] std::size_t count() const {
    return std::size_t{places_[lps_].first[packets]} + places_[lps_].first[timers];
  }
  [[nodiscard]] std::size_t count(kind k) const { return places_[lps_].first[k]; }
  // Drops events of the open window after `end`.
  void cut_off(picoseconds end);

  // Takes a timer scheduled in this window for the current logical process if it comes before an event with this
  // `when`; returns whether it did.
  bool sooner(std::uint32_t when, event& e) {
    if (now_.empty() || now_.front().when >= when) [[likely]]
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
  static constexpr std::uint32_t few = 32;  // events that are sorted one by one
  struct far_event {
    std::int64_t window;
    std::uint64_t order;
    kind k;
    event what;
    bool operator<(const far_event& other) const {  // for a heap whose top is the earliest
      return window != other.window ? window > other.window : order > other.order;
    }
  };
  // A piece of a later window. Chunks are reused, so that the memory in use matches the number of events, and is warm.
  struct chunk {
    static constexpr std::uint32_t room = 63;
    chunk* next;
    std::array<event, room> events;
  };
  // The chunks of a window; all but the last are full.
  struct slot {
    chunk* first = nullptr;
    chunk* last = nullptr;
    event* at = nullptr;   // where the next event is stored
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

  [[gnu::always_inline]] void append(kind k, unsigned window, const event& e) {
    slot& s = slots_[k][window];
    if (s.at == s.end) [[unlikely]]
      add_chunk(s, window);
    *s.at++ = e;
  }
  void add_chunk(slot& s, unsigned window);
  void release_chunks(slot& s);
  // Schedules in the open window. Passes words, not an event: reading a struct just after its parts were written is
  // slow.
  void schedule_now(std::uint32_t when, std::uint32_t lp, std::uint32_t a, std::uint32_t b);
  void schedule_far(kind k, std::int64_t window, const event& e);
  [[nodiscard]] std::int64_t next_occupied() const;
  void take_first(event& e);
  void sort(unsigned window);
  [[nodiscard]] of_each_kind find_places();
  static void order_few(std::span<event> events);
  static void order_ties(std::span<event> events);
  void order_each(kind k);
  void order(std::span<event> events);
  void order_many(std::span<event> events);

  unsigned bits_;
  std::uint32_t time_mask_;  // selects the time within a window
  std::int64_t current_ = -1;
  picoseconds begin_ = 0;
  std::array<std::vector<slot>, 2> slots_;       // of later windows, unsorted
  std::array<std::vector<event>, 2> sorted_;     // of the open window; the rest is unused
  std::vector<place> places_;                    // one more at the end, where all end
  std::size_t lps_ = 0;                          // number of `places_` in use
  std::vector<std::unique_ptr<chunk[]>> owned_;  // NOLINT(modernize-avoid-c-arrays)
  chunk* free_ = nullptr;
  std::array<std::uint64_t, slot_count / 64> occupied_{};
  std::vector<of_each_kind> counts_;       // by logical process; zero except while sorting
  std::vector<std::uint64_t> has_events_;  // bit mask of logical processes; zero except while sorting
  std::vector<std::uint32_t> parts_;       // used while sorting
  std::vector<event> unordered_;           // used while sorting
  std::vector<event> now_;                 // heap
  std::priority_queue<far_event> far_;
  std::uint64_t far_order_ = 0;
};

}  // namespace lull::netsim
