// Who may know and do what: pure functions, and the only place that decides it.
//
// A counter that anybody may read says what others on the node do (CVE-2020-8694), and averages over seconds say it at
// any rate of readings. Therefore the counters are served only to a user who has the node alone, and to administrators.
#pragma once
#include <cstdint>
#include <set>
#include <string>

namespace lull::service {

// As the kernel names who is at the other end of a connection; never what a message claims.
struct peer {
  std::int64_t uid = -1;
  bool in_group = false;  // of administrators
  [[nodiscard]] bool is_administrator() const { return uid == 0 || in_group; }
};

struct policy {
  bool serves_counters = true;     // false: to administrators only
  std::int64_t scheduler_uid = 0;  // who may open and close accounts, besides root
};

struct verdict {
  bool allowed = false;
  std::string reason;  // if not
};

// `users` are the owners of the accounts that are open.
[[nodiscard]] verdict may_read_counters(const peer& who, const policy& p, const std::set<std::int64_t>& users);
// The figures of an account while it is open: a share would reveal what the others use.
[[nodiscard]] verdict may_see_share(const peer& who, std::int64_t owner, const std::set<std::int64_t>& users);
[[nodiscard]] verdict may_see_node(const peer& who);
[[nodiscard]] verdict may_change_accounts(const peer& who, const policy& p);

}  // namespace lull::service
