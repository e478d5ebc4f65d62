#include "meter/tally.hpp"

#include <algorithm>

namespace lull::meter {
namespace {

double edge_of(const channel& c) {
  const bool read_off = c.kind == kind::measured || c.kind == kind::vendor_model;
  return read_off && !c.integrated ? 2 * c.interval.value() : 0;
}

}  // namespace

tally::tally(const channel& c)
    : counted_(c.limits),
      joules_per_unit_(c.joules_per_unit),
      watts_(c.watts),
      most_watts_(c.most_watts),
      edge_s_(edge_of(c)),
      counts_bytes_(c.counts_bytes) {}

void tally::add(const reading& r) {
  const step happened = counted_.push(r.value, r.time_ns, r.since);
  if (std::holds_alternative<first>(happened)) first_ = last_ = r;
  if (r.value) last_ = r;
}

double tally::with(double band::*bound) const {
  return joules_per_unit_.*bound * static_cast<double>(counted_.total()) + watts_.*bound * elapsed_s();
}

double tally::joules() const {
  const double joules = with(&band::mid);
  return most_watts_ > 0 ? std::min(joules, most_watts_ * elapsed_s()) : joules;
}

std::optional<std::uint64_t> tally::bytes() const {
  return counts_bytes_ ? std::optional(counted_.total()) : std::nullopt;
}

double tally::doubted_units() const { return last_.doubt - first_.doubt + first_.pending + last_.pending; }

channel_total tally::total() const {
  const double middle = joules();
  const double edge = elapsed_s() > 0 ? std::min(1.0, edge_s_ / elapsed_s()) * middle : 0;
  const double doubt = edge + joules_per_unit_.high * doubted_units();
  return {
      .joules = middle,
      .low_j = std::clamp(
          with(&band::low) - doubt - joules_per_unit_.high * static_cast<double>(counted_.before_wraps()), 0.0, middle),
      .high_j = std::max(middle, with(&band::high) + doubt + missing_j()),
      .bytes = bytes(),
      .wraps = counted_.wraps(),
      .gaps = counted_.gaps() + last_.bridged - first_.bridged,
      .resets = counted_.resets(),
      .stale = counted_.stales(),
      .lower_bound = counted_.lower_bound()};
}

}  // namespace lull::meter
