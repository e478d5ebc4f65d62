// One time for all processes of a trace. The processes of one boot of one host share the counter that ticks; it is turned
// into time by the pairs of clocks that they took. Hosts are joined by their clocks of the day, and these corrected by
// messages that went both ways: none arrives before it was sent.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/recording/raw_folder.hpp"

namespace lull::trace {

// A message between processes whose clocks differ, by these clocks.
struct crossing {
  std::uint32_t from, to;  // clocks
  std::int64_t sent_ns, received_ns;
};

class joined_clocks {
 public:
  // Of processes, in this order; those that are null have no clock.
  explicit joined_clocks(std::span<const raw_process* const> processes);

  [[nodiscard]] std::size_t clocks() const { return lines_.size(); }
  [[nodiscard]] std::uint32_t clock_of(std::size_t process) const { return clock_of_[process]; }
  // Nanoseconds since 1970, as the host of the first process counts them.
  [[nodiscard]] std::int64_t ns(std::uint32_t clock, std::uint64_t ticks) const {
    const line& l = lines_[clock];
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - l.base_ticks)) * l.ns_per_tick;
    // Beyond is no time of a run, but of a damaged record.
    constexpr double centuries_ns = 4e18;
    const std::int64_t raw = l.base_ns + static_cast<std::int64_t>(std::clamp(since, -centuries_ns, centuries_ns));
    return l.corrections.empty() ? raw : corrected(l, raw);
  }
  // Of CLOCK_MONOTONIC on a host.
  [[nodiscard]] std::int64_t ns_of_monotonic(std::uint32_t clock, std::int64_t monotonic_ns) const;
  // The clock of a host; 0 where nothing of it is known.
  [[nodiscard]] std::uint32_t clock_of_host(const std::string& host) const;

  // Corrects the clocks by messages whose times were taken before.
  void correct(std::span<const crossing> messages);

 private:
  struct correction {
    std::int64_t at_ns, add_ns;
  };
  struct line {
    std::string boot, host;
    std::uint64_t base_ticks = 0;
    std::int64_t base_ns = 0, monotonic_to_real_ns = 0;
    double ns_per_tick = 1;
    std::vector<correction> corrections = {};  // by time; between two of them by a straight line
  };
  [[nodiscard]] static std::int64_t corrected(const line& l, std::int64_t ns);

  std::vector<line> lines_;
  std::vector<std::uint32_t> clock_of_;
};

}  // namespace lull::trace
