#include "netsim/program/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lull::netsim {

// The table of families: each is the file of that name in collectives/ (gather and scatter: gather_scatter.cpp), and
// defines NAME_family().
// clang-format off
#define LULL_FAMILIES(row) \
  row(barrier) \
  row(broadcast) \
  row(reduce) \
  row(allreduce) \
  row(allgather) \
  row(alltoall) \
  row(gather) \
  row(scatter) \
  row(reduce_scatter) \
  row(scan)
// clang-format on

#define LULL_DECLARE(name) collective_family name##_family();
LULL_FAMILIES(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const collective_family> all_collective_families() {
#define LULL_ENTRY(name) name##_family(),
  static const std::vector<collective_family> rows{LULL_FAMILIES(LULL_ENTRY)};
#undef LULL_ENTRY
  return rows;
}

std::size_t family_of(collective which) {
  const auto families = all_collective_families();
  const auto found = std::ranges::find_if(
      families, [&](const collective_family& f) { return std::ranges::find(f.of, which) != f.of.end(); });
  if (found == families.end())
    throw std::logic_error(fmt::format("no family has the collective {}", trace::name_of(which)));
  return static_cast<std::size_t>(found - families.begin());
}

bool has_root(collective which) {
  switch (which) {
    case collective::broadcast:
    case collective::reduce:
    case collective::gather:
    case collective::gatherv:
    case collective::scatter:
    case collective::scatterv:
      return true;
    default:
      return false;
  }
}

const collective_algorithm* find_algorithm(const collective_family& family, const std::string& word) {
  const auto found = std::ranges::find_if(family.algorithms, [&](const auto& a) { return word == a.name; });
  return found == family.algorithms.end() ? nullptr : &*found;
}

const collective_algorithm& chosen_algorithm(const collective_family& family, std::uint32_t size, std::uint64_t bytes) {
  const auto rule = std::ranges::find_if(
      family.rules, [&](const collective_rule& r) { return size < r.below_processes && bytes < r.below_bytes; });
  const collective_algorithm* found = rule == family.rules.end() ? nullptr : find_algorithm(family, rule->algorithm);
  return found == nullptr ? family.algorithms.back() : *found;
}

stream schedule_by_rules(collective which, collective_call c) {
  return chosen_algorithm(all_collective_families()[family_of(which)], c.size, c.bytes).schedule(c);
}

std::vector<key> collective_keys() {
  std::vector<key> keys;
  for (const collective_family& f : all_collective_families()) {
    key k{.name = f.name, .meaning = f.meaning, .of = kind::choice, .by_default = "auto", .words = {"auto"}};
    for (const collective_algorithm& a : f.algorithms) k.words.emplace_back(a.name);
    keys.push_back(std::move(k));
  }
  return keys;
}

}  // namespace lull::netsim
