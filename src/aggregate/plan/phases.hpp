// The phases of an aggregation, one after the other: what was pushed in one is handled before it is over.
//
//   working   items are pushed       try_finish() → hop after hop is closed when the one before is over → working
//
// A phase in which every PE has so few items that aggregation would not pay takes the direct path, and ends with a
// meeting of all. All PEs must begin it in the same mode, because a handler that runs here is not atomic with respect
// to what others do directly; so the mode of a phase follows from what all PEs did in the one before. A PE that finds
// the phase too large for that leaves the mode and says so to all, those that wait in the meeting included; then the
// phase is finished as any. A phase with buffers also ends with a meeting when the next is to be direct: what others do
// directly must not meet handlers that still run.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "aggregate/plan/direct_path.hpp"
#include "aggregate/plan/phase_clock.hpp"
#include "aggregate/plan/pipeline.hpp"
#include "base/counters.hpp"

namespace lull::aggregate {

class phases {
 public:
  struct counts {  // that are over
    std::uint64_t all = 0, direct = 0, direct_items = 0;
    counts& operator+=(const counts& other) { return add_fields(*this, other); }
  };

  // `replies`: the phases of the pipeline into which handlers push, or null; they end with these.
  phases(fabric::world& world, pipeline& through, phase_clock& clock, phases* replies)
      : world_(world), pipeline_(through), clock_(clock), replies_(replies) {}

  // Finds out how few items take the direct path, from what others cost in buffers, and from what is `known` of it. Collective,
  // before the first phase.
  void allow_direct_path(const direct_path::buffered& other, const std::optional<model::direct_path_costs>& known);

  // Of so many phases without items, the median; finish() is that of the aggregation. So many before these touch memory that is
  // new. Collective, before the first phase: none of them counts.
  [[nodiscard]] double ns_of_empty(const std::function<void()>& finish, std::size_t warm_up, std::size_t measured);

  // A step that does not wait; true: the phase is over.
  bool try_finish();
  [[nodiscard]] bool can_go_on() const;  // whether another step would do something besides consuming
  // After that, when the next phase is direct: handlers of this one may still run elsewhere.
  void meet_before_direct_phase();

  [[nodiscard]] std::uint64_t direct_path_limit() const { return direct_now_ ? direct_limit_ : 0; }
  [[nodiscard]] bool takes_direct_path() const { return direct_now_ && !left_direct_; }
  void leave_direct_path();
  bool finish_direct_phase(std::uint64_t items);  // false: somebody left, so it is to be finished as any

  [[nodiscard]] const counts& seen() const { return seen_; }
  // Of the last phase that went through buffers, the same on all PEs: the most that one of them pushed.
  [[nodiscard]] std::uint64_t most_of_the_last() const { return most_of_the_last_; }
  // Of the direct path, if there is one: what it costs, and what this choice has come to.
  [[nodiscard]] std::optional<model::direct_path_costs> direct_costs() const {
    return direct_ ? std::optional(direct_->costs()) : std::nullopt;
  }
  [[nodiscard]] std::vector<model::choice_account> accounts() const;

 private:
  void over(std::uint64_t most_pushed);

  fabric::world& world_;
  pipeline& pipeline_;
  phase_clock& clock_;
  phases* replies_;
  counts seen_;
  std::size_t closed_ = 0;           // hops
  std::uint64_t pushed_before_ = 0;  // this phase
  std::uint64_t most_pushed_ = 0;    // by a PE in this phase, as far as known
  std::uint64_t most_of_the_last_ = 0;
  std::uint64_t direct_here_ = 0;  // items of this phase that went directly
  bool direct_now_ = false, left_direct_ = false;
  std::uint64_t direct_limit_ = 0;       // with fewer items of each PE a phase is direct; 0: never
  std::unique_ptr<direct_path> direct_;  // null when no phase is ever direct
};

}  // namespace lull::aggregate
