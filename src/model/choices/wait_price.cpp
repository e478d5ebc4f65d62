#include "model/choices/wait_price.hpp"

#include <algorithm>
#include <cmath>

namespace lull::model {
namespace {

constexpr double polls_from = 0.5;  // share of a wait, as CPU time

double between(double a, double b, double share) {
  if (a <= 0 || b <= 0) return a + share * (b - a);
  return std::exp(std::log(a) + share * (std::log(b) - std::log(a)));
}

interval between(const interval& a, const interval& b, double share) {
  return {between(a.low, b.low, share), between(a.mid, b.mid, share), between(a.high, b.high, share)};
}

interval less(const interval& a, const interval& b) { return {a.low - b.high, a.mid - b.mid, a.high - b.low}; }

interval times(const interval& a, const interval& b) {
  const double corners[]{a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::ranges::min_element(corners), a.mid * b.mid, *std::ranges::max_element(corners)};
}

}  // namespace

wait_price price_of_wait(std::span<const measured_wait> measured, double length_ns) {
  const auto above =
      std::ranges::find_if(measured, [&](const measured_wait& one) { return one.length_ns >= length_ns; });
  if (above == measured.end()) {
    const measured_wait& last = measured.back();
    const bool polls = last.cpu_ns.mid >= polls_from * last.length_ns;
    return {last.late_ns, polls ? last.cpu_ns * (length_ns / last.length_ns) : last.cpu_ns};
  }
  if (above == measured.begin()) {  // no wait takes more CPU time than its length plus its delay
    const double most = length_ns + above->late_ns.mid;
    const interval& cpu = above->cpu_ns;
    return {above->late_ns, {std::min(cpu.low, most), std::min(cpu.mid, most), std::min(cpu.high, most)}};
  }
  const measured_wait& below = *std::prev(above);
  const double share = std::log(length_ns / below.length_ns) / std::log(above->length_ns / below.length_ns);
  return {between(below.late_ns, above->late_ns, share), between(below.cpu_ns, above->cpu_ns, share)};
}

cost change_of_policy(std::span<const seen_waits> seen, std::span<const measured_wait> present,
                      std::span<const measured_wait> other, const wait_circumstances& where) {
  interval late, cpu;  // seconds, of all processes
  for (const seen_waits& kind : seen) {
    if (kind.waits <= 0) continue;
    const double length = kind.waited_ns / kind.waits;
    const wait_price now = price_of_wait(present, length), then = price_of_wait(other, length);
    late = late + less(then.late_ns, now.late_ns) * (kind.waits * 1e-9);
    cpu = cpu + less(then.cpu_ns, now.cpu_ns) * (kind.waits * 1e-9);
  }
  interval seconds = late * (1 / where.processes);
  seconds = {std::min(seconds.low, 0.0), seconds.mid, std::max(seconds.high, 0.0)};
  return {seconds, times(cpu, where.watts_of_core) + times(seconds, where.idle_watts) * where.nodes};
}

}  // namespace lull::model
