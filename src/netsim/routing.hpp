// How a packet finds its path: the state that it carries, and how a switch chooses among ports that all lead to its
// destination.
//
// minimal         a shortest path, the same one for every packet of a pair of nodes
// minimal-random  a shortest path, drawn anew for every packet
// valiant         via a switch drawn at random, with minimal routing to it and on from it (Valiant and Brebner 1981)
// adaptive        the shortest path whose next port is free soonest; where longer paths exist (dragonfly, HyperX,
//                 torus), a drawn Valiant path instead if its queue x hops is smaller (UGAL-L, Singh 2005)
// power-aware     as adaptive, but a sleeping port counts as busy for `reluctance` wake-ups, so that packets prefer
//                 links that are awake where queues allow
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/hash.hpp"

namespace lull::netsim {

using picoseconds = std::int64_t;

inline constexpr picoseconds never = std::numeric_limits<picoseconds>::max();

enum class algorithm : std::uint8_t { minimal, minimal_random, valiant, adaptive, power_aware };

inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

inline constexpr std::uint16_t no_port = 0xffff;

// The routing state of a packet.
struct route_state {
  std::uint32_t to_switch;          // the switch of its destination node
  std::uint32_t via = nowhere;      // the intermediate switch (or group) that it must visit
  std::uint32_t key = 0;            // a hash of the pair of nodes, for deterministic choices
  std::uint16_t to_port = 0;        // the port of to_switch to the destination node
  std::uint16_t decided = no_port;  // used by the topology: a port that `start` has chosen already
  std::uint8_t stage = 0;           // used by the topology, e.g. the number of groups left behind
  std::uint8_t lane = 0;            // used by the engine: one of the parallel channels of a class
};

struct hop {
  std::uint16_t port;
  std::uint8_t channel;  // class of virtual channel, below topology.channels()
};

// A small, fast generator (Vigna's SplitMix64, 2015), good enough to draw paths and destinations.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += golden_ratio;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // An integer below n, for n > 0; the bias is below n / 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((*this)() >> 32U) * n >> 32U); }
  // Uniform in (0, 1].
  double uniform() { return (static_cast<double>((*this)() >> 11U) + 1.0) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

[[nodiscard]] constexpr std::uint32_t mixed(std::uint32_t x) {  // a 32-bit hash (Wellons, "lowbias32", 2018)
  x = (x ^ (x >> 16U)) * 0x7feb352dU;
  x = (x ^ (x >> 15U)) * 0x846ca68bU;
  return x ^ (x >> 16U);
}

// The hash of a pair of nodes, see route_state::key.
[[nodiscard]] constexpr std::uint32_t pair_key(std::uint32_t from, std::uint32_t to) { return mixed(from + mixed(to)); }

// The ports of one switch at one time, as routing sees them.
class chooser {
 public:
  // For switch `at`. `free_at[p]` is the time when port p will have sent all that waits for it; if it is in the past,
  // the port has been idle since.
  chooser(std::uint32_t at, algorithm a, const picoseconds* free_at, picoseconds now, picoseconds awake_for,
          picoseconds reluctance, picoseconds bias, generator& random)
      : at_(at),
        algorithm_(a),
        free_at_(free_at),
        now_(now),
        asleep_before_(now - awake_for),
        reluctance_(reluctance),
        bias_(bias),
        random_(random) {}

  [[nodiscard]] algorithm how() const { return algorithm_; }
  [[nodiscard]] bool adapts() const { return algorithm_ >= algorithm::adaptive; }
  [[nodiscard]] generator& random() const { return random_; }

  // How long a packet queued at `port` now would wait; with power-aware, including the reluctance to wake a sleeping
  // port.
  [[nodiscard]] picoseconds wait(unsigned port) const {
    const picoseconds busy = std::max(free_at_[port] - now_, picoseconds{0});
    if (algorithm_ != algorithm::power_aware) return busy;
    return busy == 0 && free_at_[port] < asleep_before_ ? reluctance_ : busy;
  }

  // One of `count` > 0 ports from `first` on that are equally near; `key` decides if the algorithm is deterministic.
  [[nodiscard]] unsigned among(unsigned first, unsigned count, std::uint32_t key) const {
    if (count == 1) return first;
    switch (algorithm_) {
      case algorithm::minimal:
        // Hashed anew at each switch. With the same hash everywhere, each switch would use only one port for the
        // packets that an earlier choice by that hash sent to it.
        return first + static_cast<unsigned>(std::uint64_t{mixed(key + at_)} * count >> 32U);
      case algorithm::minimal_random:
      case algorithm::valiant:
        return first + random_.below(count);
      case algorithm::adaptive:
        return least_free_at(first, count);
      case algorithm::power_aware:
        return least_wait(first, count);
    }
    return first;
  }

  // UGAL-L: whether to leave the minimal path (`port`, `hops` links to go) for a detour (`other`, `other_hops`).
  [[nodiscard]] bool prefers_detour(unsigned port, unsigned hops, unsigned other, unsigned other_hops) const {
    return wait(port) * hops > wait(other) * other_hops + bias_;
  }

 private:
  // The port that is free soonest. All idle ports are equal; the search starts at a rotating port, so that traffic does
  // not concentrate in the ports with low numbers.
  [[nodiscard]] unsigned least_free_at(unsigned first, unsigned count) const;
  [[nodiscard]] unsigned least_wait(unsigned first, unsigned count) const;

  std::uint32_t at_;
  algorithm algorithm_;
  const picoseconds* free_at_;
  picoseconds now_;
  picoseconds asleep_before_;
  picoseconds reluctance_;
  picoseconds bias_;
  generator& random_;
};

inline unsigned chooser::least_free_at(unsigned first, unsigned count) const {
  const unsigned start = first + random_.below(count);
  unsigned best = start;
  picoseconds least = std::numeric_limits<picoseconds>::max();
  for (unsigned part = 0; part < 2; ++part) {
    const unsigned from = part == 0 ? start : first;
    const unsigned to = part == 0 ? first + count : start;
    for (unsigned p = from; p < to; ++p) {
      if (free_at_[p] <= now_) return p;
      best = free_at_[p] < least ? p : best;
      least = std::min(free_at_[p], least);
    }
  }
  return best;
}

inline unsigned chooser::least_wait(unsigned first, unsigned count) const {
  // A fixed order, not a rotating one: traffic concentrates in few ports, and the others stay asleep.
  unsigned best = first;
  picoseconds least = wait(first);
  for (unsigned p = first + 1; p < first + count; ++p) {
    const picoseconds w = wait(p);
    best = w < least ? p : best;
    least = std::min(w, least);
  }
  return best;
}

}  // namespace lull::netsim
