// Reduces the vectors of all lower ranks, including the own one (scan) or excluding it (exscan).
//
// linear              each adds its own vector and forwards the result to the next rank
// recursive-doubling  in step k, processes whose ranks differ in bit k exchange what they have combined
//
// auto: linear.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream linear(collective_call c) {
  if (c.rank > 0) co_yield does::receive(c.rank - 1, c.bytes, 0);
  if (c.rank + 1 < c.size) co_yield does::send(c.rank + 1, c.bytes, 0);
}

stream recursive_doubling(collective_call c) {
  for (std::uint64_t bit = 1; bit < c.size; bit *= 2) {
    const std::uint32_t other = c.rank ^ static_cast<std::uint32_t>(bit);
    if (other >= c.size) continue;
    co_yield does::send(other, c.bytes, 0, 0);
    co_yield does::receive(other, c.bytes, 0);
    co_yield does::wait(0);
  }
}

}  // namespace

collective_family scan_family() {
  return {.name = "scan",
          .meaning = "algorithm of scans, exclusive ones too",
          .of = {collective::scan, collective::exscan},
          .algorithms = {{"linear", linear}, {"recursive-doubling", recursive_doubling}},
          .rules = {{any_size, any_bytes, "linear"}}};
}

}  // namespace lull::netsim
