// After `hold` a link switches to a slower rate, which draws less power; it returns to the full rate when enough bytes
// wait for it.
//
// 4x QDR InfiniBand falls to SDR, a quarter of its rate, at 80 % of its power, within nanoseconds to microseconds
// (Georgakoudis et al. 2019, section VII, after Abts et al., ISCA 2010; the sentence there says that the slower links
// draw more, which must be a slip). Ethernet's Adaptive Link Rate (Gunaratne et al., IEEE Transactions on Computers
// 57(4), 2008) falls to a tenth and takes milliseconds; its savings differ between interfaces, so the user must give
// the share.
#include "netsim/power/sleep.hpp"

namespace lull::netsim {
namespace {

std::span<const power_preset> technologies() {
  static const std::vector<power_preset> rows{
      {"infiniband-4x-qdr",
       {{"slow_rate", 0.25}, {"slow_share", 0.8}, {"rate_change", "1 us"}, {"raise_backlog", "16 KiB"}}},
      {"ethernet-alr", {{"slow_rate", 0.1}, {"rate_change", "1 ms"}, {"raise_backlog", "16 KiB"}}, {"slow_share"}}};
  return rows;
}

}  // namespace

power_mode adaptive_rate_mode() {
  std::vector<key> keys{sleep::hold(),
                        {.name = "slow_rate",
                         .meaning = "the slow rate as a share of the full rate",
                         .of = kind::share,
                         .by_default = 0.25,
                         .most = 1,
                         .above_least = true},
                        {.name = "slow_share",
                         .meaning = "power at the slow rate as a share of active power",
                         .of = kind::share,
                         .by_default = 0.8,
                         .most = 1},
                        {.name = "rate_change",
                         .meaning = "time to change the rate",
                         .of = kind::time,
                         .by_default = "1 us",
                         .most = longest_time},
                        {.name = "raise_backlog",
                         .meaning = "number of waiting bytes at which the rate rises",
                         .of = kind::size,
                         .by_default = "16 KiB",
                         .least = 1,
                         .most = largest_buffer}};
  return {"adaptive-rate", "a slower rate", keys, technologies(), [](const reader& from) {
            const picoseconds change = from.whole("rate_change");
            return link_policy{.does = link_policy::behaviour::changes_rate,
                               .hold = from.whole("hold"),
                               .usual_wake = change,
                               .longest_wake = change,
                               .slow_rate = from.real("slow_rate"),
                               .slow_share = from.real("slow_share"),
                               .raise_backlog = from.whole("raise_backlog")};
          }};
}

}  // namespace lull::netsim
