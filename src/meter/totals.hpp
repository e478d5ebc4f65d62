// The energy of a node without counting anything twice, from channels that overlap: the one rule for all code that
// prints joules. python/lull/record/totals.py calls it through the binding.
//
// A meter of the whole node already includes its parts: the controller's (pm_counters, ipmi, redfish), the outlet's
// (snmp) or the platform counter psys. Only the most direct of them counts. One that counted less than the packages and
// the memory inside it does not measure the node, whatever it claims (psys of some machines, a controller that shows a
// processor, a wrong unit), and does not count. Without such a meter, the parts are packages, memory and accelerators;
// if only accelerators are measured, these. A table in totals.cpp says which channels read the same hardware.
//
// The wire is derived, and never measured separately from the node, so it is not part of a total; nor are network
// cards.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "meter/source.hpp"

namespace lull::meter {

struct joules_between {
  double low = 0, high = 0;
};

// The properties of a channel that the rule needs. The name begins with the source's, up to a colon.
struct channel_label {
  std::string_view name;
  domain covers;
  meter::kind kind;
  std::optional<joules_between> joules = std::nullopt;  // what it counted, if there is an account yet
};

// Both take the channels of one node and return indices of them.

// The channels of one domain that count nothing twice, in order.
[[nodiscard]] std::vector<std::size_t> counted_of(std::span<const channel_label> channels, domain of);

// The channels of the node's total: a meter of the node itself, or else packages, memory and accelerators; only
// accelerators if neither a node nor a package is covered, which is then no total of the node. Empty if there are none
// of these either: nothing is made up.
[[nodiscard]] std::vector<std::size_t> counted(std::span<const channel_label> channels);

}  // namespace lull::meter
