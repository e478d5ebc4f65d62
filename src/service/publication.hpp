// The counters as they are served: in steps, at a fixed rate, and from the beginning of an epoch.
//
// An epoch is a time in which the same user, or no single user, has the node. Its counters start at 0, so that a user
// whom others have left alone again cannot see what was used meanwhile: a reader treats the new epoch as a restart of
// the counters. Administrators see the whole, in one epoch for each start of the service.
//
// A change of epoch invalidates what was published before; the next publication is the first of the new one, at 0.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lull::service {

// Coarse enough that a reading shows nothing of single operations: 0.1 s at 1 W.
inline constexpr std::int64_t step_uj = 100'000;
inline constexpr std::int64_t publication_interval_ns = 100'000'000;

struct published {
  std::int64_t number = 0;  // grows with each publication
  std::int64_t time_ns = 0;
  std::string epoch;
  std::vector<std::optional<std::int64_t>> uj;  // without a value: the reading failed
  std::vector<std::int64_t> lost;               // how often a counter has lost energy so far
};

struct counter_value {
  std::int64_t uj = 0;
  std::int64_t lost = 0;
  bool failed = false;
};

class publication {
 public:
  // `instance` names this start of the service.
  explicit publication(std::string instance) : instance_(std::move(instance)) {}

  // The owners of open accounts, after each change of the accounts.
  void set_users(const std::set<std::int64_t>& users);
  void publish(const std::vector<counter_value>& now, std::int64_t time_ns);
  // Whether nothing of the present epoch has been published.
  [[nodiscard]] bool begins() const { return is_first_; }

  [[nodiscard]] std::int64_t number() const { return number_; }
  // No value if nothing has been published since the epoch began.
  [[nodiscard]] std::optional<published> of(bool for_administrator) const;

 private:
  std::string instance_;
  std::set<std::int64_t> users_;
  std::int64_t epoch_ = 0, number_ = 0, time_ns_ = 0;
  std::vector<counter_value> values_, base_;
  bool is_first_ = true;  // the next publication is the first of its epoch
};

}  // namespace lull::service
