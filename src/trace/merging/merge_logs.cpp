#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "trace/merging/log_classes.hpp"

namespace lull::trace::merging {
namespace {

using folding::put_number;
using folding::zigzag;

constexpr std::uint64_t constants_below = std::uint64_t{1} << 61;

struct split_log {
  std::size_t number;
  structure_parts parts;
};
using members = std::vector<const split_log*>;

std::string_view text_of(const bytes& of) { return {reinterpret_cast<const char*>(of.data()), of.size()}; }

void put_head(bytes& to, bool is_merged, std::uint64_t records, std::span<const std::size_t> numbers) {
  put_number(to, is_merged ? 1 : 0);
  put_number(to, records);
  put_number(to, numbers.size());
  std::vector<std::uint64_t> differences;
  differences.reserve(numbers.size());
  std::size_t before = 0;
  for (const std::size_t n : numbers) differences.push_back(n - std::exchange(before, n));
  put_runs(to, differences);
}

bytes as_it_is(std::size_t number, const folded_structure& log) {
  bytes made;
  put_head(made, false, log.records, {&number, 1});
  made.insert(made.end(), log.structure.begin(), log.structure.end());
  return made;
}

// The values of one parameter, by member.
struct parameter_column {
  std::vector<std::uint64_t> values;
  std::vector<place> where;
};

// The laws and tables of a class, each written when it is first needed.
class law_writer {
 public:
  void put(bytes& to, const rank_law& law) {
    if (law.what == rank_law::kind::constant && zigzag(law.by) < constants_below)
      return put_number(to, zigzag(law.by) << 2);
    const auto known = std::ranges::find(laws_, law);
    if (known != laws_.end()) return put_number(to, static_cast<std::uint64_t>(known - laws_.begin()) << 2 | 1);
    put_number(to, 2);
    put_law(to, law);
    laws_.push_back(law);
  }
  void put_table(bytes& to, const std::vector<std::uint64_t>& values) {
    const auto [known, is_new] = tables_.try_emplace(values, tables_.size());
    put_number(to, (is_new ? 0 : known->second + 2) << 2 | 3);
    if (is_new) put_runs(to, values);
  }
  static void put_grouped(bytes& to) { put_number(to, 1 << 2 | 3); }
  [[nodiscard]] const std::vector<rank_law>& laws() const { return laws_; }

 private:
  std::vector<rank_law> laws_;
  std::map<std::vector<std::uint64_t>, std::size_t> tables_;
};

// The members that differ from their ranks by the same amounts in the parameters that no law of all describes.
struct grouping {
  std::vector<std::uint64_t> group_of;  // by member
  std::uint64_t groups = 1;
  std::vector<bool> is_grouped;  // by parameter
};

class class_writer {
 public:
  class_writer(const members& of, std::span<const folded_structure> logs) : of_(of), logs_(logs) {}

  bytes write() {
    bytes head = put_beginning();
    bytes tabled = put_laws({.group_of = {}, .is_grouped = std::vector<bool>(parameters())});
    if (const grouping found = find_groups(); found.groups > 1)
      if (bytes grouped = put_laws(found); grouped.size() < tabled.size()) tabled = std::move(grouped);
    head.insert(head.end(), tabled.begin(), tabled.end());
    return head;
  }

 private:
  [[nodiscard]] std::size_t parameters() const { return of_[0]->parts.parameters.size(); }

  [[nodiscard]] parameter_column column(std::size_t parameter) const {
    parameter_column made;
    made.values.reserve(of_.size());
    made.where.reserve(of_.size());
    for (const split_log* log : of_) {
      const auto& [value, ranks] = log->parts.parameters[parameter];
      made.values.push_back(value);
      made.where.push_back(logs_[log->number].where(ranks));
    }
    return made;
  }
  // The members of a group.
  static parameter_column part_of(const parameter_column& all, const grouping& g, std::uint64_t group) {
    parameter_column made;
    for (std::size_t i = 0; i < all.values.size(); ++i) {
      if (g.group_of[i] != group) continue;
      made.values.push_back(all.values[i]);
      made.where.push_back(all.where[i]);
    }
    return made;
  }

  [[nodiscard]] bytes put_beginning() const {
    std::vector<std::size_t> numbers;
    numbers.reserve(of_.size());
    for (const split_log* log : of_) numbers.push_back(log->number);
    bytes made;
    put_head(made, true, logs_[of_[0]->number].records, numbers);
    const structure_parts& first = of_[0]->parts;
    put_number(made, first.shape.size());
    made.insert(made.end(), first.shape.begin(), first.shape.end());
    put_plain(made);
    put_number(made, first.parameters.size());
    return made;
  }
  void put_plain(bytes& to) const {
    std::map<std::string_view, std::uint64_t> different;
    std::vector<const bytes*> in_order;
    std::vector<std::uint64_t> number_of;
    for (const split_log* log : of_) {
      const auto [known, is_new] = different.try_emplace(text_of(log->parts.plain), different.size());
      if (is_new) in_order.push_back(&log->parts.plain);
      number_of.push_back(known->second);
    }
    put_number(to, in_order.size());
    for (const bytes* one : in_order) put_number(to, one->size());
    put_runs(to, number_of);
    for (const bytes* one : in_order) to.insert(to.end(), one->begin(), one->end());
  }

  [[nodiscard]] bytes put_laws(const grouping& g) const {
    bytes made;
    put_number(made, g.groups);
    if (g.groups > 1) put_runs(made, g.group_of);
    law_writer laws;
    for (std::size_t p = 0; p < parameters(); ++p) {
      if (g.is_grouped[p]) {
        law_writer::put_grouped(made);
        continue;
      }
      const parameter_column all = column(p);
      if (const auto law = find_law(all.values, all.where, laws.laws()))
        laws.put(made, *law);
      else
        laws.put_table(made, all.values);
    }
    if (g.groups == 1) return made;
    for (std::uint64_t group = 0; group < g.groups; ++group)
      for (std::size_t p = 0; p < parameters(); ++p) {
        if (!g.is_grouped[p]) continue;
        const parameter_column part = part_of(column(p), g, group);
        laws.put(made, *find_law(part.values, part.where, laws.laws()));
      }
    return made;
  }

  // A value that is a rank, as its distance; others as they are.
  static std::pair<bool, std::uint64_t> distance(std::uint64_t value, const place& p) {
    const bool is_rank = p.rank >= 0 && value < static_cast<std::uint64_t>(p.size);
    return {is_rank, is_rank ? value - static_cast<std::uint64_t>(p.rank) : value};
  }
  [[nodiscard]] grouping find_groups() const {
    grouping made{.group_of = std::vector<std::uint64_t>(of_.size()), .is_grouped = std::vector<bool>(parameters())};
    using distances = std::vector<std::pair<bool, std::uint64_t>>;
    std::vector<distances> of_member(of_.size());
    for (std::size_t p = 0; p < parameters(); ++p) {
      const parameter_column all = column(p);
      if (find_law(all.values, all.where, {})) continue;
      distances here;
      for (std::size_t i = 0; i < of_.size(); ++i) here.push_back(distance(all.values[i], all.where[i]));
      distances different = here;
      std::ranges::sort(different);
      const auto end = std::unique(different.begin(), different.end());
      if (static_cast<std::size_t>(end - different.begin()) * 2 > of_.size()) continue;  // a table serves better
      made.is_grouped[p] = true;
      for (std::size_t i = 0; i < of_.size(); ++i) of_member[i].push_back(here[i]);
    }
    std::map<distances, std::uint64_t> groups;
    for (std::size_t i = 0; i < of_.size(); ++i)
      made.group_of[i] = groups.try_emplace(std::move(of_member[i]), groups.size()).first->second;
    made.groups = groups.size();
    return made;
  }

  const members& of_;
  std::span<const folded_structure> logs_;
};

// Whether the logs of a class can be read again as they were, byte for byte.
bool gives_back(const bytes& merged, std::span<const folded_structure> logs) {
  const auto read = log_class::read(merged, logs.size());
  if (!read) return false;
  for (std::size_t member = 0; member < read->logs().size(); ++member) {
    const folded_structure& log = logs[read->logs()[member]];
    if (read->structure_of(member, log.where) != log.structure) return false;
  }
  return true;
}

}  // namespace

std::vector<bytes> merge_logs(std::span<const folded_structure> logs) {
  std::vector<split_log> split_logs;
  std::vector<bytes> made;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (auto parts = split({logs[i].structure}, logs[i].records))
      split_logs.push_back({i, std::move(*parts)});
    else
      made.push_back(as_it_is(i, logs[i]));
  }
  std::map<std::pair<std::string_view, std::uint64_t>, members> by_shape;
  std::vector<const members*> in_order;
  for (const split_log& log : split_logs) {
    const auto [found, is_new] = by_shape.try_emplace({text_of(log.parts.shape), logs[log.number].records});
    if (is_new) in_order.push_back(&found->second);
    found->second.push_back(&log);
  }
  for (const members* const of : in_order) {
    std::vector<bytes> alone;
    for (const split_log* log : *of) alone.push_back(as_it_is(log->number, logs[log->number]));
    const std::size_t sum = std::accumulate(alone.begin(), alone.end(), std::size_t{0},
                                            [](std::size_t all, const bytes& one) { return all + one.size(); });
    bytes merged = of->size() > 1 ? class_writer(*of, logs).write() : bytes();
    if (of->size() > 1 && merged.size() < sum && gives_back(merged, logs))
      made.push_back(std::move(merged));
    else
      std::ranges::move(alone, std::back_inserter(made));
  }
  return made;
}

}  // namespace lull::trace::merging
