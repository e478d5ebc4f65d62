// The phases of an aggregation, one after the other. A phase is over when every item pushed in it has been handled.
//
//   working   items are pushed       try_finish() → each hop is closed when the one before it is over → working
//
// A phase in which every PE has so few items that aggregation would not pay takes the direct path, and ends with a
// barrier of all PEs. All PEs must begin it in the same mode, because a handler that runs here is not atomic with
// respect to what others do directly; so the mode of a phase is predicted from those before, of which all PEs know
// whether some PE had too many items (phase_predictor.hpp). A PE that
// finds the phase too large for that leaves the mode and notifies all, including those that wait in the barrier; then
// the phase is finished like any other. A phase with buffers also ends with a barrier when the next is to be direct:
// what others do directly must not overlap with handlers that still run.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "aggregate/plan/direct_path.hpp"
#include "aggregate/plan/phase_clock.hpp"
#include "aggregate/plan/phase_predictor.hpp"
#include "aggregate/plan/pipeline.hpp"
#include "base/counters.hpp"

namespace lull::aggregate {

class phases {
 public:
  struct counts {  // of phases that are over
    std::uint64_t all = 0, direct = 0, direct_items = 0;
    counts& operator+=(const counts& other) { return add_fields(*this, other); }
  };

  // `replies`: the phases of the pipeline into which handlers push, or null; they end together with these.
  phases(fabric::world& world, pipeline& through, phase_clock& clock, phases* replies)
      : world_(world), pipeline_(through), clock_(clock), replies_(replies) {}

  // Finds the budget of the direct path from `other`, the costs in buffers, and from `known`, its own costs if they were
  // found earlier. Collective, before the first phase.
  void allow_direct_path(const direct_path::buffered& other, const std::optional<model::direct_path_costs>& known);

  // The median duration of `measured` phases without items, after `warm_up` phases that touch new memory. `finish` ends
  // a phase of the aggregation. Collective, before the first phase; none of these phases is counted.
  [[nodiscard]] double ns_of_empty(const std::function<void()>& finish, std::size_t warm_up, std::size_t measured);

  // A step that does not wait; true: the phase is over.
  bool try_finish();
  [[nodiscard]] bool can_go_on() const;  // whether another step would do something besides consuming
  // After that, when the next phase is direct: handlers of this one may still run elsewhere.
  void barrier_before_direct_phase();

  // The budget of the phase that begins; nothing: it goes through buffers.
  [[nodiscard]] model::direct_budget direct_path_budget() const {
    return direct_now_ ? budget_ : model::direct_budget{0, 0, 0};
  }
  [[nodiscard]] bool takes_direct_path() const { return direct_now_ && !left_direct_; }
  void leave_direct_path();
  // `items` of this phase went directly, for `spent` of the budget. False: some PE left, so the phase must finish
  // through the buffers.
  bool finish_direct_phase(std::uint64_t items, std::uint64_t spent);

  [[nodiscard]] const counts& seen() const { return seen_; }
  // The most items that one PE pushed in the last phase through buffers; the same on all PEs.
  [[nodiscard]] std::uint64_t most_of_the_last() const { return most_of_the_last_; }
  // The costs of the direct path, if there is one; accounts() describes how this choice turned out.
  [[nodiscard]] std::optional<model::direct_path_costs> direct_costs() const {
    return direct_ ? std::optional(direct_->costs()) : std::nullopt;
  }
  [[nodiscard]] std::vector<model::choice_account> accounts() const;

 private:
  // The number of items that this PE has pushed in the phase, with the mark `too_many` if they exceed the budget. The
  // largest of all PEs has the mark if any has it.
  static constexpr std::uint64_t too_many = std::uint64_t{1} << 63U;
  [[nodiscard]] std::uint64_t pushed_in_phase() const;
  void over(std::uint64_t most_pushed);

  fabric::world& world_;
  pipeline& pipeline_;
  phase_clock& clock_;
  phases* replies_;
  counts seen_;
  std::size_t closed_ = 0;                                           // number of hops
  std::uint64_t pushed_before_ = 0, pushed_within_node_before_ = 0;  // before this phase
  std::uint64_t most_pushed_ = 0;                                    // by a PE in this phase, as far as known
  std::uint64_t most_of_the_last_ = 0;
  std::uint64_t direct_here_ = 0, spent_here_ = 0;  // items of this phase that went directly, and their prices
  bool direct_now_ = false, left_direct_ = false;
  model::direct_budget budget_{0, 0, 0};  // 0: no phase is direct
  phase_predictor few_;
  std::unique_ptr<direct_path> direct_;  // null: no phase is ever direct
};

}  // namespace lull::aggregate
