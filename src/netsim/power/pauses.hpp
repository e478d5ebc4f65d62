// How long links paused. From the pauses of one run, in which no packet waits for a link to wake, follows what every
// power mode would have saved if its wake-ups delayed no packet: without delays all modes have the same pauses.
//
// The time in low power is a function of the length of a pause, and linear between a few lengths: where the hold ends,
// where fast wake ends, where the signalling ends. These lengths of all modes are the edges of the bins, and each bin has
// the number and the sum of its pauses, so the results of every mode are exact. Pauses so long that a mode has refreshed
// a link are rare and are counted one by one.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "netsim/power/power_mode.hpp"

namespace lull::netsim {

__extension__ using link_time = unsigned __int128;  // picoseconds, summed over links

// What a group of links did.
struct rest_of_links {
  link_time deep = 0;
  link_time fast = 0;
  std::uint64_t wakes = 0;
  bool operator==(const rest_of_links&) const = default;
};

// The groups of links for which power is reported: those that carried a packet, and the others, by kind.
inline constexpr std::size_t link_kinds = 3;
struct rest_by_group {
  std::array<rest_of_links, link_kinds> used;
  std::array<rest_of_links, link_kinds> unused;
};

class pauses {
  static constexpr std::size_t most_bins = 64;

 public:
  static constexpr std::size_t most_policies = (most_bins - 1) / 3;

  // Throws lull::usage_error if the saving of a policy does not follow from pauses: links must sleep with one hold.
  explicit pauses(std::span<const link_policy> policies);

  [[nodiscard]] bool counted() const { return !policies_.empty(); }

  // A packet ends a pause of a link. Some 25 instructions; no branch, except for long pauses.
  void add(std::size_t kind, picoseconds length) {
    std::size_t bin = 0;
    for (std::size_t step = most_bins / 2; step > 0; step /= 2) bin += edges_[bin + step - 1] < length ? step : 0;
    if (length > longest_) [[unlikely]]
      return add_long(kind, length);
    bin_of_pauses& b = bins_[kind][bin];
    ++b.count;
    b.sum += static_cast<std::uint64_t>(length);
  }
  // The run ends in a pause, which no wake-up ends.
  void close(std::size_t kind, bool used, picoseconds length);

  void add(const pauses& other);  // of another part of the network, with the same policies

  // For policy `index` of those given.
  [[nodiscard]] rest_by_group of(std::size_t index) const;

 private:
  struct bin_of_pauses {
    std::uint64_t count = 0;
    link_time sum = 0;
  };
  void add_long(std::size_t kind, picoseconds length);

  std::vector<link_policy> policies_;
  // Of bin i: from above edges_[i - 1] up to edges_[i]; unused ones are `never`.
  std::array<picoseconds, most_bins> edges_;
  picoseconds longest_ = never;  // that is counted in a bin
  std::array<std::array<bin_of_pauses, most_bins>, link_kinds> bins_{};
  std::vector<rest_by_group> apart_;  // by policy: long pauses, and those at the end
};

}  // namespace lull::netsim
