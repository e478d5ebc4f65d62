// Reads the definitions of an OTF2 archive: converts its numbers, which may have gaps, to indices.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/archive/otf2.hpp"
#include "trace/events.hpp"

namespace lull::trace {

class place_of_number {
 public:
  void add(std::uint32_t number, std::uint32_t place) { places_[number] = place; }
  // Most archives number without gaps, so this finds the index at once.
  [[nodiscard]] std::uint32_t of(std::uint32_t number) const {
    if (number < dense_.size()) return dense_[number];
    const auto found = places_.find(number);
    return found == places_.end() ? no_one : found->second;
  }
  void index() {
    constexpr std::uint32_t largest = 1 << 20;
    for (const auto& [number, place] : places_) {
      if (number >= largest) continue;
      if (number >= dense_.size()) dense_.resize(std::size_t{number} + 1, no_one);
      dense_[number] = place;
    }
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> places_;
  std::vector<std::uint32_t> dense_;
};

struct definition_numbers {
  static constexpr std::uint64_t ns_per_second = 1'000'000'000;

  place_of_number regions, communicators, windows;
  std::vector<OTF2_LocationRef> location_ids;                              // by index
  std::unordered_map<OTF2_MetricRef, std::vector<std::uint32_t>> metrics;  // classes and instances

  std::uint64_t ticks_per_second = ns_per_second;
  std::uint64_t begin_ticks = 0;
  std::uint64_t length_ticks = 0;

  // Time stamps wrap: a clock correction may move a time below 0, that is, to just before the largest number. Any two
  // of them are less than 2^63 ticks apart.
  [[nodiscard]] std::int64_t ticks_since_begin(OTF2_TimeStamp time) const {
    return static_cast<std::int64_t>(time - begin_ticks);
  }
  // Since the begin of the trace.
  [[nodiscard]] std::uint64_t ns(OTF2_TimeStamp time) const {
    const std::int64_t since = ticks_since_begin(time);
    return since <= 0 ? 0 : ns_of_ticks(static_cast<std::uint64_t>(since));
  }
  // Rounded down to the nanosecond, for any resolution; the largest number if the result exceeds 64 bits.
  [[nodiscard]] std::uint64_t ns_of_ticks(std::uint64_t ticks) const {
    if (ticks_per_second == ns_per_second) return ticks;
    const std::uint64_t seconds = ticks / ticks_per_second, rest = ticks % ticks_per_second;
    __extension__ using product = unsigned __int128;
    const std::uint64_t rest_ns = ticks_per_second <= ~std::uint64_t{0} / ns_per_second
                                      ? rest * ns_per_second / ticks_per_second
                                      : static_cast<std::uint64_t>(product{rest} * ns_per_second / ticks_per_second);
    if (seconds > (~std::uint64_t{0} - rest_ns) / ns_per_second) return ~std::uint64_t{0};
    return seconds * ns_per_second + rest_ns;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& metrics_of(OTF2_MetricRef metric) const {
    static const std::vector<std::uint32_t> none;
    const auto found = metrics.find(metric);
    return found == metrics.end() ? none : found->second;
  }
};

void read_definitions(OTF2_Reader* reader, const std::string& action, definitions& all, definition_numbers& numbers);

// The local mappings of each location: different numbers, and the offset of its clock. OTF2 applies them to events.
void read_mappings(OTF2_Reader* reader, const std::string& action, const std::vector<OTF2_LocationRef>& locations);

}  // namespace lull::trace
