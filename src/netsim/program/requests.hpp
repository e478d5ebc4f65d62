// The requests of one stream of operations: which are active, and which are complete and have yet to be waited for.
//
// A request is a small number that the stream chooses. It is stored in a *slot*; slot 0 belongs to the current blocking
// operation. The completion time of a request is mostly known ahead: the request is then *foretold*, and becomes
// complete when it is checked after that time. If the process waits for it, an event completes it.
#pragma once
#include <cstdint>
#include <vector>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

class requests {
 public:
  enum class state : std::uint8_t { unused, active, complete };
  struct request {
    operation::kind of = operation::kind::compute;
    state is = state::unused;
    bool by_event = false;  // complete() will be called
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint32_t cause = nowhere;  // a dependencies::end_of_step, if they are recorded
    picoseconds foretold = never;
    [[nodiscard]] bool ripe(picoseconds now) const { return is == state::active && !by_event && foretold <= now; }
  };

  [[nodiscard]] std::uint32_t slot_of(std::uint32_t number) const {
    return number == no_request ? 0 : first_ + number + 1;
  }
  [[nodiscard]] const request& at(std::uint32_t slot) const {
    static constexpr request none;
    return slot < slots_.size() ? slots_[slot] : none;
  }
  [[nodiscard]] std::uint32_t active() const { return active_; }
  // Whether a wait for one request, or for any (after ripen()), would return at once.
  [[nodiscard]] bool done(std::uint32_t slot, picoseconds now) const {
    return at(slot).is != state::active || at(slot).ripe(now);
  }
  [[nodiscard]] bool any_done() const { return complete_ > 0 || active_ == 0; }

  // Starts the request of `o`, which must be unused; returns its slot.
  std::uint32_t begin(const operation& o) {
    const std::uint32_t slot = slot_of(o.request);
    if (slot >= slots_.size()) slots_.resize(slot + std::size_t{1});
    slots_[slot] = {.of = o.what, .is = state::active, .peer = o.peer, .tag = o.tag};
    active_ += slot > 0 ? 1 : 0;
    return slot;
  }
  // Prefetches a slot.
  void fetch(std::uint32_t slot) const { __builtin_prefetch(slots_.data() + slot); }
  void foretell(std::uint32_t slot, picoseconds at) {
    slots_[slot].foretold = at;
    if (slot > 0 && slot <= first_) complete(slot);
  }
  void caused_by(std::uint32_t slot, std::uint32_t cause) { slots_[slot].cause = cause; }
  // Returns the foretold completion time if there is no event for it yet, and marks the request as completed by an
  // event; otherwise `never`.
  picoseconds claim(std::uint32_t slot) {
    request& r = slots_[slot];
    if (r.is != state::active || r.by_event || r.foretold == never) return never;
    r.by_event = true;
    return r.foretold;
  }
  // Completes those foretold until `now`; returns the number of slots.
  std::uint32_t ripen(picoseconds now) {
    const auto all = static_cast<std::uint32_t>(slots_.size());
    for (std::uint32_t slot = 0; slot < all; ++slot)
      if (slots_[slot].ripe(now)) complete(slot);
    return all;
  }
  void complete(std::uint32_t slot) {
    slots_[slot].is = state::complete;
    if (slot == 0) return;
    if (slot <= first_) {
      --earlier_;
      return;
    }
    --active_;
    ++complete_;
  }
  // Ends the wait for a request, which may then be reused. Returns the kind of its operation; `compute` if there is no
  // complete request.
  operation::kind take(std::uint32_t slot, picoseconds now) {
    if (at(slot).ripe(now)) complete(slot);
    if (at(slot).is != state::complete) return operation::kind::compute;
    slots_[slot].is = state::unused;
    complete_ -= slot > 0 ? 1 : 0;
    return slots_[slot].of;
  }
  // The stream is over with all that it began; another may begin.
  void forget() {
    slots_.clear();
    first_ = active_ = complete_ = earlier_ = 0;
  }
  // Another run of the same stream begins; it does not know the requests that are still active.
  void begin_again() {
    (void)ripen(never - 1);
    earlier_ += active_;
    if (earlier_ == 0) slots_.clear();
    first_ = slots_.empty() ? 0 : static_cast<std::uint32_t>(slots_.size() - 1);
    active_ = complete_ = 0;
  }

 private:
  std::vector<request> slots_;
  std::uint32_t first_ = 0;     // the last slot of earlier runs
  std::uint32_t active_ = 0;    // of this run, without slot 0
  std::uint32_t complete_ = 0;  // of this run, without slot 0
  std::uint32_t earlier_ = 0;   // active requests of earlier runs
};

}  // namespace lull::netsim
