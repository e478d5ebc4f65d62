#include "netsim/program/sampled_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "netsim/sampling/losses.hpp"

namespace lull::netsim {
namespace {

// The kinds of units in a run of the first process.
std::vector<std::uint32_t> units_of(const program& of) {
  struct : completions {
    [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return true; }
  } at_once;
  std::vector<std::uint32_t> found;
  stream all = of.of(0, at_once);
  while (const operation* o = all.next())
    if (o->what == operation::kind::unit) found.push_back(o->tag);
  return found;
}

}  // namespace

sampled_units::sampled_units(const job_setup& setup, const program& of)
    : setup_(setup),
      wanted_(setup.asked.sample->units),
      cut_(setup.asked.sample->cut),
      random_(generator(setup.asked.sample->seed + setup.index)()),
      begin_(setup.job().start) {
  for (const std::uint32_t kind : units_of(of)) {
    auto found = std::ranges::find(kinds_, kind, &kind_of_unit::name);
    if (found == kinds_.end()) found = kinds_.insert(found, {.name = kind, .places = {}});
    found->places.push_back(static_cast<std::uint32_t>(kind_at_.size()));
    kind_at_.push_back(static_cast<std::uint32_t>(found - kinds_.begin()));
  }
  setup.require(!kinds_.empty(), "pattern",
                fmt::format("is {}, which has no units of which some could be left out", setup.job().pattern),
                "leave out [sample]");
}

std::uint32_t sampled_units::account_of(std::uint32_t run, std::uint32_t kind) const {
  const auto found = std::ranges::find(kinds_, kind, &kind_of_unit::name);
  return account_number(run, kinds_.size(), static_cast<std::size_t>(found - kinds_.begin()));
}

sampled_units::role sampled_units::role_of(std::uint32_t run, std::uint32_t place, std::uint32_t kind) {
  const bool same = place < kind_at_.size() && kinds_[kind_at_[place]].name == kind;
  setup_.require(same, "pattern", fmt::format("is {}, whose processes have different units", setup_.job().pattern),
                 "leave out [sample]");
  return run_at(run)[place].is;
}

sampled_units::run& sampled_units::run_at(std::uint32_t number) {
  while (number >= first_run_ + runs_.size()) runs_.push_back(planned());
  return runs_[number - first_run_];
}

// Of n units m are measured: those at a random distance below n / m from the first, and every n / m from there on.
sampled_units::run sampled_units::planned() {
  run made(kind_at_.size(), {.left = setup_.size(), .is = role::left_out});
  for (const kind_of_unit& k : kinds_) {
    const auto n = static_cast<std::uint32_t>(k.places.size());
    const auto m = static_cast<std::uint32_t>(std::min<std::int64_t>(n, wanted_));
    const std::uint64_t first = random_.below(n);  // in units of 1 / m
    for (std::uint32_t i = 0; i < m; ++i) made[k.places[(first + std::uint64_t{i} * n) / m]].is = role::measured;
  }
  for (std::size_t place = 1; place < made.size(); ++place)
    if (made[place].is == role::measured && made[place - 1].is == role::left_out) made[place - 1].is = role::leads;
  return made;
}

void sampled_units::ended(std::uint32_t run_number, std::uint32_t place, picoseconds now, picoseconds spared,
                          picoseconds sending) {
  run& in = run_at(run_number);
  unit& u = in[place];
  u.end = std::max(u.end, now);
  u.spared = std::max(u.spared, spared);
  u.sending += sending;
  if (--u.left > 0 || place + 1 < in.size()) return;
  measure(in);
  begin_ = u.end;
  runs_.pop_front();
  ++first_run_;
}

void sampled_units::measure(const run& ended) {
  picoseconds began = begin_;
  for (std::size_t place = 0; place < ended.size(); ++place) {
    const unit& u = ended[place];
    if (u.is == role::measured) {
      const auto time = static_cast<double>(u.end - began + u.spared);
      kind_of_unit& k = kinds_[kind_at_[place]];
      ++k.measured;
      k.sum += time;
      k.squares += time * time;
      k.sending += static_cast<double>(u.sending);
    }
    began = u.end;
  }
}

job_estimate sampled_units::estimate() const {
  job_estimate found;
  for (const kind_of_unit& k : kinds_) {
    const auto n = static_cast<double>(k.measured);
    const double mean = k.measured > 0 ? k.sum / n : 0;
    found.units.push_back({.kind = k.name,
                           .count = k.places.size(),
                           .measured = k.measured,
                           .mean = mean,
                           .deviation = k.measured > 1 ? std::sqrt(std::max(0.0, k.squares / n - mean * mean)) : 0});
    const auto count = static_cast<double>(k.places.size());
    found.run_time += count * mean;
    if (k.measured > 0) found.sending += count * k.sending / n;
  }
  if (runs_ended_ > 0) found.computing = computing_ / static_cast<double>(runs_ended_) * setup_.size();
  return found;
}

}  // namespace lull::netsim
