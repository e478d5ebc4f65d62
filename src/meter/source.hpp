// The contract of an energy source: one class in one file for each interface through which a machine reports energy or
// power. table.cpp registers them by name, in order of preference.
//
// The constructor gets the root of the file system, and detects the channels and whether they can be read. It throws
// lull::error only if a setting is wrong; a machine without the source, or without permission to read it, is a state
// with a reason and, if possible, the fix.
//
// A channel is one counter. Its source returns raw values and knows the worth of one unit; accumulator.hpp alone
// handles wraps, gaps and resets. Energy = joules_per_unit * counted + watts * time, each with the band that the source
// guarantees.
//
// A readable source may be read any number of times, by one thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "meter/accumulator.hpp"
#include "meter/sysroot.hpp"

namespace lull::meter {

// What an energy value covers: node includes package, dram and whatever else is in the machine; package does not
// include dram; wire is the computed cost of crossing the network, and overlaps with nic and node.
enum class domain { node, package, dram, gpu, nic, wire };

// How a value is obtained, from the most to the least direct: by a meter, by the vendor's model behind the counter, by
// a formula from another measured quantity, from coefficients alone, or by a simulator (only in records).
enum class kind { measured, vendor_model, derived, estimated, simulated };

[[nodiscard]] std::string_view name_of(domain d);
[[nodiscard]] std::string_view name_of(kind k);

// A coefficient and the bounds that its source gives for it.
struct band {
  double low = 0, mid = 0, high = 0;
};

struct channel {
  std::string name;  // unique on the node: "powercap:package-0"
  domain covers;
  meter::kind kind;
  seconds interval;   // how often the raw value changes; 0: at every reading
  std::string basis;  // where the value comes from: a path, or a formula and coefficients with their source
  counter_limits limits;
  band joules_per_unit;
  band watts;
  bool counts_bytes = false;
  double most_watts = 0;    // its joules never exceed this times the time that passed; 0: no such limit
  bool integrated = false;  // computed from power readings by power_integral.hpp: its readings state their own
                            // uncertainty
};

struct reading {
  std::optional<std::uint64_t> value;  // no value if the reading failed; never 0 instead
  int error = 0;                       // errno of a failed reading
  std::int64_t time_ns = 0;            // CLOCK_MONOTONIC at which the value was valid
  continuity since = continuity::kept;
  // For an integrated channel, in raw units: the uncertainty from the intervals between the power readings so far (it
  // only grows), and from the time since the last of them (for this reading only).
  double doubt = 0;
  double pending = 0;
  int bridged = 0;  // gaps so far that no reading showed, because they ended before the next one
};

// The reading of a file at `time_ns`.
[[nodiscard]] reading stamped(const number_read& read, std::int64_t time_ns);

struct availability {
  bool readable = false;
  std::string reason;  // why not; empty if readable
  std::string fix;     // what to do, in one line; may be empty
};

struct source_description {
  std::string name;
  meter::kind kind;
  std::string unit;        // of the raw values
  seconds interval;        // as for its channels
  std::string range;       // where the counters wrap, in words; empty if they do not
  std::string permission;  // what reading it needs
  std::vector<channel> channels;
  availability state;
  std::string left_out = {};  // existing channels that are not in `channels`, and why (still_counters.hpp)
  bool asked_for = false;     // a setting names it, so a line reports if it is not readable
};

class source {
 public:
  explicit source(source_description description) : description_(std::move(description)) {}
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  virtual ~source() = default;

  [[nodiscard]] const source_description& description() const { return description_; }
  // One reading per channel, in the order of the channels.
  virtual void read(std::span<reading> into) = 0;
  // Why a reading since the last call was a gap, in one line, if the source knows more than an errno.
  [[nodiscard]] virtual std::string complaint() { return {}; }

 private:
  source_description description_;
};

struct source_entry {
  std::string_view name;
  std::unique_ptr<source> (*make)(const sysroot&);
};

// All known sources, in order of preference.
[[nodiscard]] std::span<const source_entry> source_table();

}  // namespace lull::meter
