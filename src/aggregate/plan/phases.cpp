#include "aggregate/plan/phases.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "fabric/teams/team.hpp"

namespace lull::aggregate {

void phases::allow_direct_path(const direct_path::buffered& other,
                               const std::optional<model::direct_path_costs>& known) {
  direct_ = std::make_unique<direct_path>(world_);
  budget_ = direct_->budget(other, known);
  direct_now_ = budget_.whole != 0;
}

double phases::ns_of_empty(const std::function<void()>& finish, std::size_t warm_up, std::size_t measured) {
  std::vector<std::int64_t> took(measured);
  for (std::size_t i = 0; i < warm_up; ++i) finish();
  for (std::int64_t& t : took) {
    world_.everybody().sync();
    const std::int64_t begin = now_ns();
    finish();
    t = now_ns() - begin;
  }
  std::ranges::sort(took);
  seen_ = {};
  if (replies_) replies_->seen_ = {};
  return static_cast<double>(took[took.size() / 2]);
}

bool phases::try_finish() {
  pipeline_.consume();
  for (; closed_ < pipeline_.hops(); pipeline_.consume()) {
    if (closed_ > 0) {
      if (!pipeline_.over(closed_ - 1)) return false;
      most_pushed_ = std::max(most_pushed_, pipeline_.most_pushed(closed_ - 1));
    } else {
      most_pushed_ = pushed_in_phase();
    }
    if (!pipeline_.try_close(closed_, most_pushed_)) return false;
    ++closed_;
  }
  const std::size_t last = pipeline_.hops() - 1;
  if (!pipeline_.over(last)) return false;
  if (replies_ && !replies_->try_finish()) return false;
  over(std::max(most_pushed_, pipeline_.most_pushed(last)));
  return true;
}

bool phases::can_go_on() const {
  if (closed_ != 0 && !pipeline_.over(closed_ - 1)) return false;
  if (closed_ < pipeline_.hops()) return pipeline_.can_close(closed_);
  return !replies_ || replies_->can_go_on();
}

std::uint64_t phases::pushed_in_phase() const {
  const std::uint64_t buffered = pipeline_.pushed() - pushed_before_;
  const std::uint64_t near = std::min(buffered, pipeline_.pushed_within_node() - pushed_within_node_before_);
  const std::uint64_t price = spent_here_ + near * budget_.near + (buffered - near) * budget_.far;
  return (buffered + direct_here_) | (price < budget_.whole ? 0 : too_many);
}

void phases::over(std::uint64_t most_pushed) {
  pipeline_.reopen();
  closed_ = 0;
  pushed_before_ = pipeline_.pushed();
  pushed_within_node_before_ = pipeline_.pushed_within_node();
  most_of_the_last_ = most_pushed & ~too_many;
  most_pushed_ = direct_here_ = spent_here_ = 0;
  left_direct_ = false;
  ++seen_.all;
  if (budget_.whole != 0) direct_now_ = few_.next(most_pushed < too_many);
  clock_.end();
}

void phases::barrier_before_direct_phase() {
  if (direct_now_) direct_->barrier(seen_.all + 1);
}

void phases::leave_direct_path() {
  left_direct_ = true;
  direct_->leave(seen_.all + 1);
}

bool phases::finish_direct_phase(std::uint64_t items, std::uint64_t spent) {
  seen_.direct_items += items;
  direct_here_ = items;
  spent_here_ = spent;
  world_.transfers().quiet(world_.transfers().default_context());
  direct_->barrier(seen_.all + 1);
  if (direct_->somebody_left(seen_.all + 1)) return false;  // which it did before it arrived
  direct_here_ = spent_here_ = 0;
  ++seen_.all;
  ++seen_.direct;
  direct_now_ = few_.next(true);
  if (replies_) ++replies_->seen_.all;
  return true;
}

std::vector<model::choice_account> phases::accounts() const {
  if (!direct_) return {};
  return direct_->accounts({seen_.direct, seen_.direct_items}, {seen_.all - seen_.direct, pipeline_.pushed()});
}

}  // namespace lull::aggregate
