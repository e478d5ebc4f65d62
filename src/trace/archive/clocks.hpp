// A common time for all processes of a trace. The processes of one boot of a host share its tick counter, which the
// pairs of clocks that they recorded convert to time. Hosts are synchronised by their wall clocks, which messages in
// both directions correct: none then arrives before it was sent.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/recording/raw_folder.hpp"

namespace lull::trace {

// A message between processes with different clocks, with the times of these clocks.
struct crossing {
  std::uint32_t from, to;  // clocks
  std::int64_t sent_ns, received_ns;
};

class joined_clocks {
 public:
  // Indexed like `processes`; null ones have no clock.
  explicit joined_clocks(std::span<const raw_process* const> processes);

  [[nodiscard]] std::size_t clocks() const { return lines_.size(); }
  [[nodiscard]] std::uint32_t clock_of(std::size_t process) const { return clock_of_[process]; }
  // Nanoseconds since 1970, by the clock of the first process's host.
  [[nodiscard]] std::int64_t ns(std::uint32_t clock, std::uint64_t ticks) const {
    const line& l = lines_[clock];
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - l.base_ticks)) * l.ns_per_tick;
    // A longer time comes from a damaged record.
    constexpr double centuries_ns = 4e18;
    const std::int64_t raw = l.base_ns + static_cast<std::int64_t>(std::clamp(since, -centuries_ns, centuries_ns));
    return l.corrections.empty() ? raw : corrected(l, raw);
  }
  // Converts a CLOCK_MONOTONIC time of a host.
  [[nodiscard]] std::int64_t ns_of_monotonic(std::uint32_t clock, std::int64_t monotonic_ns) const;
  // The clock of a host; 0 if the host is unknown.
  [[nodiscard]] std::uint32_t clock_of_host(const std::string& host) const;

  // Corrects the clocks by messages, whose times are uncorrected.
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
    std::vector<correction> corrections = {};  // sorted by time; linear in between
  };
  [[nodiscard]] static std::int64_t corrected(const line& l, std::int64_t ns);

  std::vector<line> lines_;
  std::vector<std::uint32_t> clock_of_;
};

}  // namespace lull::trace
