// Chooses which of the sources found on a machine are used, with the reasons against the others.
//
// A source whose counters all stay at 0 is not readable (still_counters.hpp). By default all readable sources are used,
// except that
//
//   - of powercap, perf, amd_energy and served only the first is used, because they read the same registers;
//   - the estimate is used only if no source covers the packages or the whole node: a value from coefficients never
//     appears next to one from a counter unless requested.
//
// Names from the caller, or else from LULL_METER_SOURCES, replace the default. Two more rules are elsewhere: one of
// net, infiniband and cxi counts a wire (wire.hpp), and totals leave out what overlaps (totals.hpp).
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meter/source.hpp"

namespace lull::meter {

struct found_source {
  std::unique_ptr<meter::source> source;
  bool used = false;
  std::string reason;  // why it is not readable, or else not used
};

// Every source in the table, in its order. Throws for a name that is not in the table.
[[nodiscard]] std::vector<found_source> find_sources(const sysroot& root, std::span<const std::string> names = {});

struct chosen_sources {
  std::vector<std::unique_ptr<source>> to_read;
  std::vector<std::string> not_read;  // one line for each unreadable source that a setting configures
};

// The sources to read. Throws if a named one is not readable, or if there is none at all.
[[nodiscard]] chosen_sources choose_sources(const sysroot& root, std::span<const std::string> names = {});
[[nodiscard]] std::vector<std::unique_ptr<source>> sources_to_read(const sysroot& root,
                                                                   std::span<const std::string> names = {});

}  // namespace lull::meter
