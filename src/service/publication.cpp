#include "service/publication.hpp"

#include <fmt/format.h>

namespace lull::service {

void publication::set_users(const std::set<std::int64_t>& users) {
  // Several users on the node, whoever they are, are the same to all of them: none may read.
  const auto sole = [](const std::set<std::int64_t>& s) {
    return s.size() == 1 ? std::optional(*s.begin()) : std::nullopt;
  };
  const bool is_new = sole(users) != sole(users_);
  users_ = users;
  if (!is_new) return;
  ++epoch_;
  is_first_ = true;
}

void publication::publish(const std::vector<counter_value>& now, std::int64_t time_ns) {
  values_ = now;
  if (is_first_) base_ = now;
  is_first_ = false;
  time_ns_ = time_ns;
  ++number_;
}

std::optional<published> publication::of(bool for_administrator) const {
  if (number_ == 0 || (is_first_ && !for_administrator)) return std::nullopt;
  published p{.number = number_,
              .time_ns = time_ns_,
              .epoch = for_administrator ? instance_ : fmt::format("{}.{}", instance_, epoch_),
              .uj = {},
              .lost = {}};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::int64_t uj = values_[i].uj - (for_administrator ? 0 : base_[i].uj);
    p.uj.push_back(values_[i].failed ? std::nullopt : std::optional(uj / step_uj * step_uj));
    p.lost.push_back(values_[i].lost);
  }
  return p;
}

}  // namespace lull::service
