// The contract of an energy source: one class in one file per way a machine tells what it consumes, registered by name
// in table.cpp, in order of preference.
//
// A source is made with the root of the file system it looks at and finds out at once what is there: its channels, and
// whether they can be read. Making one throws lull::error only for a setting that is wrong; a machine that lacks the
// source, or does not let it be read, is a state with a reason and, where there is one, the fix.
//
// A channel is one counter. Its source hands out raw values and knows what one of them is worth; wraps, gaps and resets
// are the business of accumulator.hpp alone. Energy = joules_per_unit * counted + watts * time, each with the band that
// the source can answer for.
//
// A source that is readable may be read any number of times, by one thread at a time.
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

// What an energy figure covers: node includes package, dram and whatever else is in the box; package does not include
// dram; wire is what crossing the network is said to cost, and overlaps with nic and node.
enum class domain { node, package, dram, gpu, nic, wire };

// How a figure is obtained, from the most to the least direct: by a meter, by the vendor's model behind the counter,
// from another measured quantity by a formula, from coefficients alone, or by a simulator (no source's, but a
// record's).
enum class kind { measured, vendor_model, derived, estimated, simulated };

[[nodiscard]] std::string_view name_of(domain d);
[[nodiscard]] std::string_view name_of(kind k);

// A coefficient and the bounds within which its source holds it to be true.
struct band {
  double low = 0, mid = 0, high = 0;
};

struct channel {
  std::string name;  // unique on the node: "powercap:package-0"
  domain covers;
  meter::kind kind;
  seconds interval;   // how often the raw value changes by itself; 0: at every reading
  std::string basis;  // where the figure comes from: a path, or formula and coefficients with their source
  counter_limits limits;
  band joules_per_unit;
  band watts;
  bool counts_bytes = false;
  double most_watts = 0;    // its joules are never more than this times the time that passed; 0: no such limit
  bool integrated = false;  // made of power readings by power_integral.hpp: its readings state their own doubt
};

struct reading {
  std::optional<std::uint64_t> value;  // nothing when the reading failed, never 0 in its place
  int error = 0;                       // errno of a failed reading
  std::int64_t time_ns = 0;            // CLOCK_MONOTONIC when the value was true
  continuity since = continuity::kept;
  // Of an integrated channel, in raw units: by how much the value may be off because of what lies between the power
  // readings so far (it only grows), and because of the time since the last of them (of this reading alone).
  double doubt = 0;
  double pending = 0;
  int bridged = 0;  // gaps so far that no reading showed, because they were over before the next one
};

// The reading that a file gave at `time_ns`.
[[nodiscard]] reading stamped(const number_read& read, std::int64_t time_ns);

struct availability {
  bool readable = false;
  std::string reason;  // why not; empty when it is
  std::string fix;     // what to do, in one line; empty when there is none
};

struct source_description {
  std::string name;
  meter::kind kind;
  std::string unit;        // of the raw values
  seconds interval;        // as of its channels
  std::string range;       // where the counters start again, in words; empty when they do not
  std::string permission;  // what reading it needs
  std::vector<channel> channels;
  availability state;
  std::string left_out = {};  // channels that are there and not among `channels`, and why (still_counters.hpp)
  bool asked_for = false;     // by a setting that names it: that it is not readable is worth a line
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
  // Why a reading since the last call was a gap, in one line, where the source knows more than an errno.
  [[nodiscard]] virtual std::string complaint() { return {}; }

 private:
  source_description description_;
};

struct source_entry {
  std::string_view name;
  std::unique_ptr<source> (*make)(const sysroot&);
};

// All sources Lull knows, in order of preference.
[[nodiscard]] std::span<const source_entry> source_table();

}  // namespace lull::meter
