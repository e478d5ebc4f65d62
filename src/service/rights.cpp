#include "service/rights.hpp"

#include <fmt/format.h>

namespace lull::service {
namespace {

const verdict yes{.allowed = true, .reason = {}};

bool is_alone(std::int64_t uid, const std::set<std::int64_t>& users) {
  return users.size() == 1 && users.contains(uid);
}

}  // namespace

verdict may_read_counters(const peer& who, const policy& p, const std::set<std::int64_t>& users) {
  if (who.is_administrator()) return yes;
  if (!p.serves_counters) return {.allowed = false, .reason = "this site serves counters to administrators only"};
  if (is_alone(who.uid, users)) return yes;
  if (!users.contains(who.uid)) return {.allowed = false, .reason = "you have no job on this node"};
  return {.allowed = false, .reason = fmt::format("{} users share this node", users.size())};
}

verdict may_see_share(const peer& who, std::int64_t owner, const std::set<std::int64_t>& users) {
  if (who.is_administrator()) return yes;
  if (who.uid != owner) return {.allowed = false, .reason = "it is another user's"};
  if (is_alone(who.uid, users)) return yes;
  return {.allowed = false,
          .reason = fmt::format("{} users share this node: its energy is known at its end", users.size())};
}

verdict may_see_node(const peer& who) {
  return who.is_administrator() ? yes
                                : verdict{.allowed = false, .reason = "only administrators may see the whole node"};
}

verdict may_change_accounts(const peer& who, const policy& p) {
  if (who.uid == 0 || who.uid == p.scheduler_uid) return yes;
  return {.allowed = false, .reason = "only root and the scheduler open and close accounts"};
}

}  // namespace lull::service
