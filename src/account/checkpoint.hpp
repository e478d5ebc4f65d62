// The state of the accounts of a node as text, from which a later process of the same boot goes on.
//
// JSON with a version. The boot is named, because counters and CLOCK_MONOTONIC begin anew with each.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/attribution.hpp"
#include "account/whole_counter.hpp"

namespace lull::account {

struct checkpoint {
  std::string boot_id;
  std::int64_t unix_offset_ns = 0;  // what CLOCK_REALTIME was beyond CLOCK_MONOTONIC
  std::vector<std::string> rows;    // of closed accounts, that the spool does not contain yet
  attribution::state accounts;
  std::map<std::string, whole_counter::state> counters;  // by channel
};

[[nodiscard]] std::string text_of(checkpoint c);
// No value if the text is not complete, of another version, or inconsistent.
[[nodiscard]] std::optional<checkpoint> checkpoint_in(std::string_view text);

}  // namespace lull::account
