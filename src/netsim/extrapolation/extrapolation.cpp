#include "netsim/extrapolation/extrapolation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/extrapolation/step_kinds.hpp"

namespace lull::netsim {
namespace {

constexpr std::size_t most_patterns_tried = 8;

class nothing_complete final : public completions {
 public:
  [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return false; }
};

// The neighbours that a rank has: one bit per offset of the pattern.
using neighbours = std::uint64_t;
neighbours neighbours_of(std::uint32_t rank, const rank_grid& grid, const std::vector<grid_offset>& offsets) {
  neighbours found = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (grid.neighbour(rank, offsets[i])) found |= neighbours{1} << i;
  return found;
}

// The steps, in order, that a rank takes if it has the neighbours for them.
struct step_template {
  const regular_pattern& pattern;
  step_kinds kinds = {};
  std::vector<std::uint32_t> steps = {};

  [[nodiscard]] bool has(neighbours at, std::uint32_t kind) const {
    const std::int32_t offset = kinds.offset_of(kind);
    return offset < 0 || (at >> static_cast<unsigned>(offset) & 1U) != 0;
  }
};

// Merges one rank of each kind of place. A step is next if it is next for all ranks that have its neighbour.
class merger {
 public:
  merger(step_template& into, const sized_program& from) : into_(into) {
    std::map<neighbours, std::uint32_t> places;
    for (std::uint32_t rank = 0; rank < from.processes; ++rank)
      places.try_emplace(neighbours_of(rank, into.pattern.larger, into.pattern.offsets), rank);
    lines_.reserve(places.size());
    for (const auto& [at, rank] : places)
      lines_.push_back(
          {at, rank, step_reader(from.what, rank, into.pattern.larger, into.pattern.offsets, into.kinds, none_)});
    for (line& l : lines_) l.more = l.reader.next(l.head);
  }

  void run() {
    for (;;) {
      const line* first = nullptr;
      const line* against = nullptr;
      bool found = false;
      for (const line& l : lines_) {
        if (!l.more) continue;
        if (first == nullptr) first = &l;
        const line* const other = objects(l.head.kind);
        if (other == nullptr) {
          take(l.head.kind);
          found = true;
          break;
        }
        if (against == nullptr) against = other;
      }
      if (found) continue;
      if (first == nullptr) return;
      throw std::invalid_argument(
          fmt::format("operation {} of rank {} ({}) and {} cannot be ordered consistently", first->head.number,
                      first->rank, in_words(into_.kinds[first->head.kind], into_.pattern.offsets),
                      against->more ? fmt::format("operation {} of rank {} ({})", against->head.number, against->rank,
                                                  in_words(into_.kinds[against->head.kind], into_.pattern.offsets))
                                    : fmt::format("the end of rank {}", against->rank)));
    }
  }

 private:
  struct line {
    neighbours at;
    std::uint32_t rank;
    step_reader reader;
    step head{};
    bool more = false;
  };

  // A rank that has such steps, but whose next step is another.
  [[nodiscard]] const line* objects(std::uint32_t kind) const {
    for (const line& l : lines_)
      if (into_.has(l.at, kind) && (!l.more || l.head.kind != kind)) return &l;
    return nullptr;
  }
  void take(std::uint32_t kind) {
    into_.steps.push_back(kind);
    for (line& l : lines_)
      if (into_.has(l.at, kind)) l.more = l.reader.next(l.head);
  }

  step_template& into_;
  nothing_complete none_;
  std::vector<line> lines_;
};

// How much the ranks of a program send and compute in each step of the template, which they must follow.
class amounts {
 public:
  amounts(step_template& of, const sized_program& program, const rank_grid& grid, const char* name)
      : of_(of), grid_(grid) {
    bytes.resize(of.steps.size());
    std::vector<std::uint32_t> doers(of.steps.size());
    std::map<neighbours, std::uint64_t> ranks;
    for (std::uint32_t rank = 0; rank < program.processes; ++rank) {
      const neighbours at = neighbours_of(rank, grid, of.pattern.offsets);
      std::vector<double>& before = computing[at];
      std::vector<double>& of_kind = by_kind[at];
      of_kind.resize(of.steps.empty() ? 0 : 1 + *std::ranges::max_element(of.steps));
      ++ranks[at];
      std::size_t place = 0;
      step_reader reader(program.what, rank, grid, of.pattern.offsets, of.kinds, none_);
      step s;
      for (std::size_t t = 0; t < of.steps.size(); ++t) {
        const std::uint32_t kind = of.steps[t];
        if (!of.has(at, kind)) continue;
        if (!reader.next(s)) differ(name, rank, s, kind, true);
        if (!is(s, kind, rank)) differ(name, rank, s, kind, false);
        reader.take_as(kind);
        bytes[t] += static_cast<double>(s.bytes);
        ++doers[t];
        if (place == before.size()) before.push_back(0);
        before[place++] += static_cast<double>(s.before);
        of_kind[kind] += static_cast<double>(s.before);
      }
      if (reader.next(s)) differ(name, rank, s, s.kind, false);
    }
    for (std::size_t t = 0; t < bytes.size(); ++t) bytes[t] /= std::max(doers[t], 1U);
    for (auto* const means : {&computing, &by_kind})
      for (auto& [at, all] : *means)
        for (double& one : all) one /= static_cast<double>(ranks[at]);
  }

  std::vector<double> bytes;  // of each step, the mean
  // Mean over ranks with the same neighbours, in picoseconds: before each step that they have, and before all steps of
  // a kind together.
  std::map<neighbours, std::vector<double>> computing, by_kind;

 private:
  // Whether the step is of the kind, or of an equivalent one.
  [[nodiscard]] bool is(const step& s, std::uint32_t kind, std::uint32_t rank) const {
    if (s.kind == kind) return true;
    step_kind found = of_.kinds[s.kind];
    const step_kind& wanted = of_.kinds[kind];
    if (found.offset < 0 || wanted.offset < 0) return false;
    found.offset = wanted.offset;
    return found.all() == wanted.all() &&
           grid_.neighbour(rank, of_.pattern.offsets[static_cast<std::size_t>(wanted.offset)]) == s.peer;
  }
  [[noreturn]] void differ(const char* name, std::uint32_t rank, const step& s, std::uint32_t kind, bool over) const {
    const std::string wanted = in_words(of_.kinds[kind], of_.pattern.offsets);
    if (over) throw std::invalid_argument(fmt::format("rank {} of {} ends where others have: {}", rank, name, wanted));
    const std::string found = in_words(of_.kinds[s.kind], of_.pattern.offsets);
    throw std::invalid_argument(
        found == wanted
            ? fmt::format("operation {} of rank {} of {} ({}) is one too many or differs from that of others", s.number,
                          rank, name, found)
            : fmt::format("operation {} of rank {} of {} is: {}; of others: {}", s.number, rank, name, found, wanted));
  }

  const step_template& of_;
  const rank_grid& grid_;
  nothing_complete none_;
};

class extrapolated final : public program {
 public:
  extrapolated(step_template&& of, const amounts& smaller, amounts&& larger, const sized_program& program)
      : offsets_(of.pattern.offsets),
        grid_(of.pattern.wanted),
        kinds_(std::move(of.kinds)),
        steps_(std::move(of.steps)),
        computing_(std::move(larger.computing)) {
    const double seen = static_cast<double>(of.pattern.larger.ranks()) / of.pattern.smaller.ranks();
    const double asked = static_cast<double>(grid_.ranks()) / of.pattern.larger.ranks();
    for (std::size_t t = 0; t < steps_.size(); ++t)
      bytes_.push_back(static_cast<std::uint64_t>(
          std::llround(larger.bytes[t] * std::pow(asked, exponent_between(smaller.bytes[t], larger.bytes[t], seen)))));
    factors_.assign(kinds_.size(), 1);
    for (const std::uint32_t k : steps_) factors_[k] = std::pow(asked, exponent_of(k, smaller, larger, seen));
    make_groups();
    remarks_ = program.what.remarks();
    remarks_.push_back(fmt::format("more processes than were traced: a grid of {} extrapolates those of {} and {}",
                                   grid_.in_words(), of.pattern.smaller.in_words(), of.pattern.larger.in_words()));
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& /*done*/) const override {
    return operations(*this, rank);
  }
  [[nodiscard]] std::span<const std::uint32_t> group(std::uint32_t number) const override { return groups_[number]; }
  [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

 private:
  // Exponent of the computing time before steps of a kind, from the kinds of places that both programs have; others
  // have other steps, and so compute elsewhere.
  [[nodiscard]] static double exponent_of(std::uint32_t kind, const amounts& smaller, const amounts& larger,
                                          double ratio) {
    double in_smaller = 0, in_larger = 0;
    for (const auto& [at, of_kind] : larger.by_kind)
      if (const auto same = smaller.by_kind.find(at); same != smaller.by_kind.end()) {
        in_smaller += same->second[kind];
        in_larger += of_kind[kind];
      }
    return exponent_between(in_smaller, in_larger, ratio);
  }

  // The groups of one kind: the number of each section of the grid, by its lowest rank.
  using numbers = std::map<std::uint32_t, std::uint32_t>;

  void make_groups() {
    groups_.resize(1);
    for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].extent == 0) continue;
      const auto [at, is_new] = sections_.try_emplace({kinds_[k].extent, kinds_[k].ordinal});
      if (!is_new) continue;
      for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
        const auto [section, first] =
            at->second.try_emplace(lowest_of(rank, kinds_[k].extent), static_cast<std::uint32_t>(groups_.size()));
        if (first) groups_.emplace_back();
        groups_[section->second].push_back(rank);
      }
    }
  }
  [[nodiscard]] std::uint32_t lowest_of(std::uint32_t rank, std::uint32_t extent) const {
    auto at = grid_.place(rank);
    for (unsigned d = 0; d < 3; ++d)
      if ((extent >> d & 1U) != 0) at[d] = 0;
    return at[0] + grid_.size[0] * (at[1] + grid_.size[1] * at[2]);
  }

  [[nodiscard]] bool has(neighbours at, std::uint32_t kind) const {
    const std::int32_t offset = kinds_.offset_of(kind);
    return offset < 0 || (at >> static_cast<unsigned>(offset) & 1U) != 0;
  }
  // The most similar kind of place that was seen.
  [[nodiscard]] const std::pair<const neighbours, std::vector<double>>& like(neighbours at) const {
    return *std::ranges::min_element(computing_, {}, [&](const auto& seen) { return std::popcount(seen.first ^ at); });
  }

  [[nodiscard]] operation made(std::size_t t, std::uint32_t rank) const {
    const step_kind& k = kinds_[steps_[t]];
    operation o{.what = k.what, .which = k.which, .tag = k.tag, .bytes = bytes_[t]};
    if (k.extent != 0) o.group = sections_.at({k.extent, k.ordinal}).at(lowest_of(rank, k.extent));
    if (k.what == operation::kind::collective)
      o.peer =
          o.group == everybody ? k.root : groups_[o.group][std::min<std::size_t>(k.root, groups_[o.group].size() - 1)];
    if (k.offset >= 0) o.peer = *grid_.neighbour(rank, offsets_[static_cast<std::size_t>(k.offset)]);
    if (k.what == operation::kind::await_put) o.bytes = k.awaited;
    return o;
  }

  static stream operations(const extrapolated& of, std::uint32_t rank) {
    const neighbours at = neighbours_of(rank, of.grid_, of.offsets_);
    const neighbours seen = of.like(at).first;
    const std::vector<double>& computing = of.like(at).second;
    std::size_t place = 0;  // in `computing`
    double computes = 0;
    std::vector<std::vector<std::uint32_t>> posted(of.kinds_.size());  // requests, the oldest first
    std::vector<std::uint32_t> unused;
    std::uint32_t requests = 0;
    for (std::size_t t = 0; t < of.steps_.size(); ++t) {
      const std::uint32_t kind = of.steps_[t];
      if (of.has(seen, kind)) computes += computing[place++] * of.factors_[kind];
      if (!of.has(at, kind)) continue;
      if (const picoseconds duration = std::llround(computes); duration > 0) {
        computes = 0;
        co_yield does::compute(duration);
      }
      const step_kind& k = of.kinds_[kind];
      if (k.what == operation::kind::compute) continue;
      if (k.what == operation::kind::wait) {
        std::vector<std::uint32_t>& waiting = posted[k.awaited - 1];
        const std::uint32_t request = waiting.front();
        waiting.erase(waiting.begin());
        unused.push_back(request);
        co_yield does::wait(request);
        continue;
      }
      operation o = of.made(t, rank);
      if (k.request) {
        o.request = unused.empty() ? requests++ : unused.back();
        if (!unused.empty()) unused.pop_back();
        posted[kind].push_back(o.request);
      }
      co_yield o;
    }
  }

  std::vector<grid_offset> offsets_;
  rank_grid grid_;
  step_kinds kinds_;
  std::vector<std::uint32_t> steps_;
  std::vector<std::uint64_t> bytes_;  // of each step
  std::vector<double> factors_;       // of computing, by kind
  std::map<neighbours, std::vector<double>> computing_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, numbers> sections_;  // by extent and ordinal
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::string> remarks_;
};

std::unique_ptr<program> continued(const regular_pattern& pattern, const sized_program& smaller,
                                   const sized_program& larger) {
  step_template made{pattern};
  merger(made, larger).run();
  amounts of_larger(made, larger, pattern.larger, "the larger program");
  const amounts of_smaller(made, smaller, pattern.smaller, "the smaller program");
  return std::make_unique<extrapolated>(std::move(made), of_smaller, std::move(of_larger), larger);
}

}  // namespace

double exponent_between(double smaller, double larger, double ratio_of_processes) {
  if (smaller <= 0 || larger <= 0) return 0;
  const double exponent = std::log(larger / smaller) / std::log(ratio_of_processes);
  for (const double usual : {0.0, 1.0 / 3, 0.5, 2.0 / 3, 1.0, 4.0 / 3, 1.5, 2.0})
    if (std::abs(std::abs(exponent) - usual) < 0.02) return std::copysign(usual, exponent);
  return exponent;
}

std::unique_ptr<program> extrapolate(const sized_program& smaller, const sized_program& larger, std::uint32_t processes,
                                     const std::string& asked) {
  const std::string action = fmt::format("{} with {} processes", asked, processes);
  if (smaller.processes >= larger.processes || larger.processes >= processes)
    throw error(action, fmt::format("the traces have {} and {} processes", smaller.processes, larger.processes),
                "the smaller trace must have fewer processes than the larger, and the larger fewer than requested");
  const std::vector<regular_pattern> patterns = patterns_of(smaller, larger, processes);
  if (patterns.empty())
    throw error(action,
                "the partners of its ranks are not at the same positions of a grid in both traces, or no such grid has "
                "this many ranks",
                "choose numbers of processes that form grids of the same shape, with at least 3 in each direction that "
                "is a ring; other programs need a trace on all processes");
  std::string why;
  for (std::size_t i = 0; i < std::min(patterns.size(), most_patterns_tried); ++i) {
    try {
      return continued(patterns[i], smaller, larger);
    } catch (const std::invalid_argument& e) {
      if (why.empty()) why = e.what();
    }
  }
  throw error(action, why, "only a regular program can be extrapolated; others need a trace on all processes");
}

}  // namespace lull::netsim
