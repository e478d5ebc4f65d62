#include "meter/tally.hpp"

#include <algorithm>

namespace lull::meter {

tally::tally(const channel& c)
    : counted_(c.limits),
      joules_per_unit_(c.joules_per_unit),
      watts_(c.watts),
      edge_s_(c.kind == kind::measured || c.kind == kind::vendor_model ? 2 * c.interval.value() : 0),
      counts_bytes_(c.counts_bytes) {}

void tally::add(const reading& r) {
  const step happened = counted_.push(r.value, r.time_ns);
  if (std::holds_alternative<first>(happened)) first_ns_ = last_ns_ = r.time_ns;
  if (r.value) last_ns_ = r.time_ns;
}

double tally::with(double band::*bound) const {
  return joules_per_unit_.*bound * static_cast<double>(counted_.total()) + watts_.*bound * elapsed_s();
}

channel_total tally::total() const {
  const double edge = elapsed_s() > 0 ? std::min(1.0, edge_s_ / elapsed_s()) * joules() : 0;
  return {.joules = joules(),
          .low_j = std::max(0.0, with(&band::low) - edge),
          .high_j = with(&band::high) + edge + joules_per_unit_.high * counted_.missing_at_most(),
          .bytes = counts_bytes_ ? std::optional(counted_.total()) : std::nullopt,
          .wraps = counted_.wraps(),
          .gaps = counted_.gaps(),
          .resets = counted_.resets(),
          .stale = counted_.stales(),
          .lower_bound = counted_.lower_bound()};
}

}  // namespace lull::meter
