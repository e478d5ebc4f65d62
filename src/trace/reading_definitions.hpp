// The definitions of an archive in OTF2, read: their numbers in the archive, which may have gaps, become places here.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/events.hpp"
#include "trace/otf2.hpp"

namespace lull::trace {

class place_of_number {
 public:
  void add(std::uint32_t number, std::uint32_t place) { places_[number] = place; }
  // Most archives number without gaps; then it is found at once.
  [[nodiscard]] std::uint32_t of(std::uint32_t number) const {
    if (number < dense_.size()) return dense_[number];
    const auto found = places_.find(number);
    return found == places_.end() ? no_one : found->second;
  }
  void settle() {
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
  place_of_number regions, communicators, windows;
  std::vector<OTF2_LocationRef> location_ids;                              // by place
  std::unordered_map<OTF2_MetricRef, std::vector<std::uint32_t>> metrics;  // classes and instances

  double ns_per_tick = 1;
  std::uint64_t begin_ticks = 0;

  // Since the begin of the trace.
  [[nodiscard]] std::uint64_t ns(OTF2_TimeStamp time) const {
    const std::uint64_t since = time > begin_ticks ? time - begin_ticks : 0;
    return ns_per_tick == 1 ? since : static_cast<std::uint64_t>(static_cast<double>(since) * ns_per_tick);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& metrics_of(OTF2_MetricRef metric) const {
    static const std::vector<std::uint32_t> none;
    const auto found = metrics.find(metric);
    return found == metrics.end() ? none : found->second;
  }
};

void read_definitions(OTF2_Reader* reader, const std::string& asked, definitions& all, definition_numbers& numbers);

// What each location defines for itself: other numbers, and how far its clock is off. OTF2 applies them to events.
void read_mappings(OTF2_Reader* reader, const std::string& asked, const std::vector<OTF2_LocationRef>& locations);

}  // namespace lull::trace
