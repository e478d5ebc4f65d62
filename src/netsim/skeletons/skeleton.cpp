#include "netsim/skeletons/skeleton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "netsim/simulation.hpp"

namespace lull::netsim {

// The table of skeletons: each is the file of that name in skeletons/, and defines NAME_skeleton().
// clang-format off
#define LULL_SKELETONS(row) \
  row(kripke) \
  row(laghos) \
  row(amg) \
  row(examinimd) \
  row(sw4lite) \
  row(minife) \
  row(miniamr) \
  row(histogram) \
  row(index_gather) \
  row(radix_sort)
// clang-format on

#define LULL_DECLARE(name) skeleton name##_skeleton();
LULL_SKELETONS(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const skeleton> all_skeletons() {
#define LULL_ENTRY(name) name##_skeleton(),
  static const std::vector<skeleton> rows{LULL_SKELETONS(LULL_ENTRY)};
#undef LULL_ENTRY
  return rows;
}

std::unique_ptr<program> make_skeleton(const job_setup& setup) {
  const job& j = setup.job();
  const skeleton& found =
      *std::ranges::find(all_skeletons(), j.pattern, [](const skeleton& s) { return std::string_view(s.name); });
  return found.make(setup, reader(found.keys, j.own));
}

key steps_key() {
  return {.name = "steps",
          .meaning = "steps of the main loop",
          .otherwise = "1; examinimd: 100, minife: 200",
          .least = 1,
          .most = most_number};
}

key step_time_key() {
  return {
      .name = "step_time",
      .meaning =
          "computing time of a process in a step, with the part of the problem that a process of 256 has by default",
      .of = kind::time,
      .otherwise = "the application's, see the reference of skeletons",
      .most = longest_time};
}

key zones_key() {
  return {.name = "zones",
          .meaning = "zones of the whole mesh along x, y, z",
          .otherwise = "kripke: 32 for each process along each axis; laghos: 64, from 2,048 processes on 128",
          .least = 1,
          .most = 1 << 30,
          .list = true};
}

std::uint32_t steps_of(const reader& from, std::uint32_t usual) {
  return from.has("steps") ? number_of(from, "steps") : usual;
}

picoseconds step_time_of(const reader& from, picoseconds usual) {
  return from.has("step_time") ? from.whole("step_time") : usual;
}

triple extent_of(const job_setup& setup, const reader& from, const char* name, const triple& usual,
                 const triple& sides) {
  const std::vector<std::int64_t> given = from.numbers(name);
  setup.require(given.empty() || given.size() == 3, name, fmt::format("has {} numbers", given.size()),
                "give three, along x, y and z");
  triple extent = usual;
  if (!given.empty())
    std::ranges::transform(given, extent.begin(), [](auto n) { return static_cast<std::uint32_t>(n); });
  for (std::size_t d = 0; d < 3; ++d)
    setup.require(extent[d] >= sides[d], name,
                  fmt::format("has {} along {}, for {} processes", extent[d], "xyz"[d], sides[d]),
                  "give each process at least one");
  return extent;
}

}  // namespace lull::netsim
