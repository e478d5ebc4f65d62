// What the operations of a GOAL file waited for (tolerance/dependencies.hpp): their dependencies, their CPU, and
// messages.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "netsim/goal/graph.hpp"
#include "netsim/tolerance/dependencies.hpp"

namespace lull::netsim {

class recorded_steps {
 public:
  using moment = dependencies::moment;

  recorded_steps(dependencies& in, const goal_graph& graph) : in_(&in) {
    for (const goal_rank& r : graph.ranks) {
      std::size_t cpus = 1;
      for (const goal_operation& o : r.operations) cpus = std::max(cpus, o.cpu + std::size_t{1});
      ranks_.push_back(
          {.of = &r, .operations = std::vector<operation>(r.operations.size()), .cpus = std::vector<moment>(cpus)});
    }
  }

  // A run of all operations begins: the first one at a time, others when all operations have ended.
  void begin(std::uint32_t rank, picoseconds now) {
    rank_steps& r = ranks_[rank];
    if (r.all.step == nowhere) r.all = in_->begin(now);
    for (operation& o : r.operations) o.at = r.all;
  }
  // Where an operation is: ready, at work, or at its end.
  [[nodiscard]] const moment& at(std::uint32_t rank, std::uint32_t number) const {
    return ranks_[rank].operations[number].at;
  }
  // It gets its CPU, and gives it back.
  void takes_cpu(std::uint32_t rank, std::uint32_t number, picoseconds now) {
    rank_steps& r = ranks_[rank];
    moment& at = r.operations[number].at;
    at = both(at, r.cpus[r.of->operations[number].cpu], now);
  }
  void leaves_cpu(std::uint32_t rank, std::uint32_t number, picoseconds now) {
    rank_steps& r = ranks_[rank];
    moment& at = r.operations[number].at;
    at = {in_->here(at, now) / 2, now};
    r.cpus[r.of->operations[number].cpu] = at;
  }
  // A message will complete it, and has.
  void caused_by(std::uint32_t rank, std::uint32_t number, dependencies::end_of_step cause) {
    if (cause != dependencies::nothing) ranks_[rank].operations[number].cause = cause;
  }
  void completed(std::uint32_t rank, std::uint32_t number, picoseconds now) {
    operation& o = ranks_[rank].operations[number];
    const dependencies::end_of_step cause = std::exchange(o.cause, dependencies::nothing);
    if (cause != dependencies::nothing) o.at = in_->wait_ended(o.at, o.at.at, cause, now);
  }
  // It has begun, or ended: others that depend on this are not ready before.
  void passed(std::uint32_t rank, std::uint32_t number, goal_edge::when what, picoseconds now) {
    rank_steps& r = ranks_[rank];
    const moment& here = r.operations[number].at;
    bool leads_on = false;
    for (const goal_edge e : r.of->edges_of(number)) {
      if (e.after() != what) continue;
      leads_on = true;
      moment& other = r.operations[e.to()].at;
      other = both(other, here, now);
    }
    if (what == goal_edge::when::ended && !leads_on) r.all = both(r.all, here, now);
  }
  void ended(std::uint32_t rank, picoseconds now) { in_->ended(ranks_[rank].all, now); }

 private:
  struct operation {
    moment at;
    dependencies::end_of_step cause = dependencies::nothing;
  };
  struct rank_steps {
    const goal_rank* of;
    std::vector<operation> operations;
    std::vector<moment> cpus;
    moment all = {};  // after the operations that have ended so far
  };
  // A moment after both.
  [[nodiscard]] moment both(const moment& a, const moment& b, picoseconds now) const {
    if (b.step == nowhere || a.step == b.step) return a;
    return in_->wait_ended(a, a.at, 2 * b.step, now);
  }

  dependencies* in_;
  std::vector<rank_steps> ranks_;
};

}  // namespace lull::netsim
