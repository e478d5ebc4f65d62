// How much of the low power of a link that is never used each kind of unit prevents.
//
// A link that never carries a packet rests all the time. Whatever a link rests less was lost to its packets: to the
// transmission, and to the hold, the signalling and the wake-up of the pause before. The loss is booked to the account of
// the unit (program/sampled_units.hpp) that sent the packet. It does not depend on how long a pause was, as long as the pause was
// longer than the times of the power mode, so the losses of a few units are those of all.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "netsim/power/power_mode.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

// An account of a job's unit of kind `kind`, counted from 0, of `kinds`. 0 is the account of what is not measured.
[[nodiscard]] constexpr std::uint32_t account_number(std::uint32_t run, std::size_t kinds, std::size_t kind) {
  return static_cast<std::uint32_t>(1 + run * kinds + kind);
}

// The shares of time that a link that is never used spends in deep sleep and in fast wake.
struct rest_when_unused {
  double deep = 0;
  double fast = 0;
  explicit rest_when_unused(const link_policy& p) {
    if (p.does != link_policy::behaviour::sleeps) return;
    if (p.fast_for >= any_time)
      fast = 1;
    else
      deep = static_cast<double>(p.quiet_time) / static_cast<double>(p.quiet_time + p.refresh_time);
  }
};

// Of links of one kind, picoseconds.
struct link_loss {
  double deep = 0;
  double fast = 0;
  std::uint64_t wakes = 0;
  std::uint64_t packets = 0;
};

class link_losses {
 public:
  // No jobs: nothing is booked.
  link_losses(const link_policy& policy, std::size_t jobs) : idle_(policy), of_(jobs) {}

  [[nodiscard]] bool booked() const { return !of_.empty(); }
  // A packet of an account of a job ends a pause, or follows another, and occupies the link until `lasted` after the end of the
  // packet before. Meanwhile the link was in deep sleep and in fast wake for these times.
  void add(std::uint32_t job, std::uint32_t account, std::size_t kind, picoseconds lasted, picoseconds deep,
           picoseconds fast, bool woke) {
    if (account == 0) return;
    if (account >= of_[job].size()) of_[job].resize(account + std::size_t{1});
    link_loss& l = of_[job][account][kind];
    l.deep += static_cast<double>(lasted) * idle_.deep - static_cast<double>(deep);
    l.fast += static_cast<double>(lasted) * idle_.fast - static_cast<double>(fast);
    l.wakes += woke ? 1 : 0;
    ++l.packets;
  }
  using by_kind = std::array<link_loss, link_kinds>;
  [[nodiscard]] by_kind of(std::uint32_t job, std::uint32_t account) const {
    return account < of_[job].size() ? of_[job][account] : by_kind{};
  }
  [[nodiscard]] const rest_when_unused& idle() const { return idle_; }

 private:
  rest_when_unused idle_;
  std::vector<std::vector<by_kind>> of_;  // by job and account
};

}  // namespace lull::netsim
