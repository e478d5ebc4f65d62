// The sleep states of backplane Ethernet are those of IEEE Std 802.3-2018 (Energy Efficient Ethernet) as Georgakoudis
// et al. 2019 tabulate them: wake-up times of each speed in Table I; sleep signalling, wake-up and power of 100GBASE-R
// in Table VI. The source gives no sleep signalling for the other speeds, so these use that of 100GBASE-R. They also
// use its quiet and refresh times, of which only the order of magnitude is known: milliseconds and microseconds.
#include "netsim/power/sleep.hpp"

namespace lull::netsim::sleep {
namespace {

power_preset ethernet(const char* name, const char* wake_deep) {
  return {name,
          {{"sleep_time", "1.1 us"},
           {"wake_deep", wake_deep},
           {"wake_fast", "0.34 us"},
           {"quiet_time", "1.7 ms"},
           {"refresh_time", "1.1 us"},
           {"deep_share", 0.1},
           {"fast_share", 0.6}}};
}

}  // namespace

key hold() {
  return {.name = "hold",
          .meaning = "idle time at full power before the first low-power state; \"2 Ts\" is twice sleep_time",
          .of = kind::time,
          .by_default = 0,
          .most = longest_time,
          .unit_of = "sleep_time"};
}

key sleep_time() {
  return {.name = "sleep_time",
          .meaning = "Ts, the time of the sleep signalling, at full power",
          .of = kind::time,
          .by_default = "1.1 us",
          .most = longest_time,
          .unit = "Ts"};
}

std::vector<key> deep() {
  return {{.name = "wake_deep",
           .meaning = "Tw|DS, the time to wake from deep sleep",
           .of = kind::time,
           .by_default = "5.5 us",
           .most = longest_time},
          {.name = "quiet_time",
           .meaning = "Tq, the time between refreshes",
           .of = kind::time,
           .by_default = "1.7 ms",
           .most = longest_time,
           .above_least = true},
          {.name = "refresh_time",
           .meaning = "Tr, the time of a refresh, at full power",
           .of = kind::time,
           .by_default = "1.1 us",
           .most = longest_time},
          {.name = "deep_share",
           .meaning = "power in deep sleep as a share of active power",
           .of = kind::share,
           .by_default = 0.1,
           .most = 1}};
}

std::vector<key> fast() {
  return {{.name = "wake_fast",
           .meaning = "Tw|FW, the time to wake from fast wake",
           .of = kind::time,
           .by_default = "0.34 us",
           .most = longest_time},
          {.name = "fast_share",
           .meaning = "power in fast wake as a share of active power",
           .of = kind::share,
           .by_default = 0.6,
           .most = 1}};
}

std::vector<key> waking() {
  return {{.name = "wake_delays",
           .meaning = "false: links sleep and save power, but no packet waits for a link to wake",
           .of = kind::boolean,
           .by_default = true},
          {.name = "bound",
           .meaning = "maximum share of time by which wake-ups delay a link, from which each link learns its own hold; "
                      "0: hold as set",
           .of = kind::share,
           .by_default = 0,
           .most = 1}};
}

std::span<const power_preset> technologies() {
  static const std::vector<power_preset> rows{ethernet("100GBASE-R", "5.5 us"), ethernet("40GBASE-R", "5.5 us"),
                                              ethernet("25GBASE-R", "14.25 us")};
  return rows;
}

link_policy read_common(const reader& from) {
  return {.does = link_policy::behaviour::sleeps,
          .hold = from.whole("hold"),
          .wake_delays = from.flag("wake_delays"),
          .sleep_time = from.whole("sleep_time"),
          .bound = from.real("bound")};
}

void read_deep(const reader& from, link_policy& into) {
  into.wake_deep = from.whole("wake_deep");
  into.quiet_time = from.whole("quiet_time");
  into.refresh_time = from.whole("refresh_time");
  into.deep_share = from.real("deep_share");
}

void read_fast(const reader& from, link_policy& into) {
  into.wake_fast = from.whole("wake_fast");
  into.fast_share = from.real("fast_share");
}

}  // namespace lull::netsim::sleep
