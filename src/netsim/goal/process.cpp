#include "netsim/goal/process.hpp"

#include <algorithm>

namespace lull::netsim {

void goal_process::begin(picoseconds now) {
  const auto count = static_cast<std::uint32_t>(of_->operations.size());
  if (cpus_.empty()) {
    std::size_t cpus = 1;
    for (const goal_operation& o : of_->operations) cpus = std::max(cpus, o.cpu + std::size_t{1});
    cpus_.resize(cpus);
    waits_for_.resize(count);
    since_ = now;
  }
  pass(now);
  left_ = count;
  for (std::uint32_t i = 0; i < count; ++i)
    if ((waits_for_[i] = of_->operations[i].needs) == 0) ready_.push_back(i);
}

bool goal_process::take_ready(std::uint32_t& number) {
  if (first_ready_ == ready_.size()) {
    ready_.clear();
    first_ready_ = 0;
    return false;
  }
  number = ready_[first_ready_++];
  return true;
}

std::uint32_t& goal_process::counter_of(goal_kind what) {
  switch (what) {
    case goal_kind::calc:
      return computing_;
    case goal_kind::send:
      return sending_;
    default:
      return receiving_;
  }
}

void goal_process::begun(std::uint32_t number, picoseconds now) {
  pass(now);
  ++counter_of(at(number).what);
  waits_for_[number] = running;
  satisfy(number, goal_edge::when::begun);
}

void goal_process::ended(std::uint32_t number, picoseconds now) {
  pass(now);
  --counter_of(at(number).what);
  --left_;
  waits_for_[number] = over;
  satisfy(number, goal_edge::when::ended);
}

void goal_process::satisfy(std::uint32_t number, goal_edge::when after) {
  for (const goal_edge e : of_->edges_of(number))
    if (e.after() == after && --waits_for_[e.to()] == 0) ready_.push_back(e.to());
}

void goal_process::wait_for_cpu(std::uint32_t number) { cpus_[at(number).cpu].queue.push_back(number); }

bool goal_process::take_cpu(std::uint8_t cpu, std::uint32_t& number) {
  auto& [busy, first, queue] = cpus_[cpu];
  if (busy) return false;
  if (first == queue.size()) {
    queue.clear();
    first = 0;
    return false;
  }
  number = queue[first++];
  return busy = true;
}

void goal_process::pass(picoseconds now) {
  spent_ = spent(now);
  since_ = now;
}

time_spent goal_process::spent(picoseconds until) const {
  time_spent all = spent_;
  if (left_ == 0) return all;
  const picoseconds lasted = std::max<picoseconds>(0, until - since_);
  (computing_ > 0 ? all.computing : sending_ > 0 ? all.sending : all.waiting) += lasted;
  return all;
}

}  // namespace lull::netsim
