// Which of the sources found on a machine are used, and why the others are not.
//
// A source whose counters all stay at 0 is not readable (still_counters.hpp). By default all that are readable, but
//
//   - of powercap, perf and amd_energy only the first: they are ways to the same registers;
//   - the estimate only where no source covers the packages or the whole node: a figure from coefficients never stands
//     beside one from a counter unasked.
//
// Names, from the caller or else from LULL_METER_SOURCES, replace the default. Two rules more live elsewhere: one wire
// is counted by one of net, infiniband and cxi (wire.hpp), and what overlaps in a total is left out of it (totals.hpp).
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
  std::vector<std::string> not_read;  // a line for each that a setting configures and that is not readable
};

// Only those to be read. Throws when a named one is not readable, or when there is none at all.
[[nodiscard]] chosen_sources choose_sources(const sysroot& root, std::span<const std::string> names = {});
[[nodiscard]] std::vector<std::unique_ptr<source>> sources_to_read(const sysroot& root,
                                                                   std::span<const std::string> names = {});

}  // namespace lull::meter
