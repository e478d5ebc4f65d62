#include "account/command_share.hpp"

#include <algorithm>
#include <cmath>

namespace lull::account {
namespace {

std::int64_t in_millionths(double value) { return std::llround(value * 1e6); }

opening account_of(const char* key, std::int64_t cpus) {
  opening what;
  what.key = key;
  what.holds.cpus = cpus;
  return what;
}

}  // namespace

std::vector<energy_figure> share_of_command(std::span<const counted_energy> node, const use_of_node& use) {
  std::vector<shared_channel> channels;
  observation seen;
  for (const counted_energy& e : node) {
    shared_channel c{.name = e.channel, .covers = e.covers, .kind = e.kind};
    if (e.joules > 0) {
      c.low = e.low_j / e.joules;
      c.high = e.high_j / e.joules;
    }
    channels.push_back(c);
    seen.channels.push_back({.uj = in_millionths(e.joules)});
  }
  resources whole;
  whole.cpus = use.cpus;
  attribution accounts(whole, channels, 0);
  for (const counted_energy& e : node)
    if (e.idle_w) accounts.set_idle_power(e.channel, *e.idle_w);
  accounts.open(account_of("command", use.command_cpus), {}, {}, 0);
  accounts.open(account_of("others", 0), {}, {}, 0);
  accounts.report_cpu("command", in_millionths(use.command_cpu_s));
  accounts.report_cpu("others", in_millionths(use.others_cpu_s));
  seen.time_ns = std::llround(use.seconds * 1e9);
  accounts.add(seen);
  return accounts.of("command")->energy;
}

}  // namespace lull::account
