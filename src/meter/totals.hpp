// The energy of a node that counts nothing twice, out of channels that overlap: the one rule for every printer of
// joules. python/lull/record/totals.py asks it through the binding.
//
// A meter of the whole node already holds its parts: the controller's (pm_counters, ipmi, redfish), the outlet's (snmp)
// or the platform counter psys; the most direct of them counts, and no other. One that counted less than the packages and the
// memory inside it does not meter the node, whatever it says (psys of some machines, a controller that shows a processor, a
// wrong unit), and does not count. Without one the parts are packages, memory and accelerators; where only accelerators are
// metered, these. Which channels read the same silicon is a table in totals.cpp.
//
// The wire is derived, never measured apart from the node, so it is not part of a total; nor are network cards.
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

// What the rule needs to know of a channel. The name begins with the source's, up to a colon.
struct channel_label {
  std::string_view name;
  domain covers;
  meter::kind kind;
  std::optional<joules_between> joules = std::nullopt;  // that it counted, where there is an account yet
};

// Both take the channels of one node and answer with positions among them.

// The channels of one domain that count nothing twice, in their order.
[[nodiscard]] std::vector<std::size_t> counted_of(std::span<const channel_label> channels, domain of);

// Those that make up the node's total: what meters the node itself, else packages, memory, accelerators; accelerators alone
// where neither a node nor a package is covered, which are no total of the node then. Empty where there are none either:
// nothing is made up.
[[nodiscard]] std::vector<std::size_t> counted(std::span<const channel_label> channels);

}  // namespace lull::meter
