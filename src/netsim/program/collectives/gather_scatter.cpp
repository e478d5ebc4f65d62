// Gathers the blocks of all on one process, and scatters them from one to all. A block belongs to one process; the
// ranks below are relative to the root.
//
// linear    the root receives from each, or sends to each
// binomial  a process forwards the blocks of its subtree of a binomial tree
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c); its synchronised
// and its non-blocking linear variants are replaced by linear.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream linear_gather(collective_call c) {
  if (c.rank != c.root) {
    co_yield does::send(c.root, c.bytes, 0);
    co_return;
  }
  const rooted r(c);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::receive(r.real(other), c.bytes, 0, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
}

stream binomial_gather(collective_call c) {
  const rooted r(c);
  const std::uint32_t span = r.span();
  std::uint32_t begun = 0;
  for (std::uint32_t step = 1; step < span; step *= 2) {
    const std::uint32_t child = r.rank + step;
    if (child < r.size) co_yield does::receive(r.real(child), c.bytes * (r.end(child, step) - child), 0, begun++);
  }
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
  if (r.rank > 0) co_yield does::send(r.real(r.rank - span), c.bytes * (r.end(r.rank, span) - r.rank), 0);
}

stream linear_scatter(collective_call c) {
  if (c.rank != c.root) {
    co_yield does::receive(c.root, c.bytes, 0);
    co_return;
  }
  const rooted r(c);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::send(r.real(other), c.bytes, 0, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
}

stream binomial_scatter(collective_call c) {
  const rooted r(c);
  const std::uint32_t span = r.span();
  if (r.rank > 0) co_yield does::receive(r.real(r.rank - span), c.bytes * (r.end(r.rank, span) - r.rank), 0);
  std::uint32_t begun = 0;
  for (std::uint32_t step = span / 2; step > 0; step /= 2) {
    const std::uint32_t child = r.rank + step;
    if (child < r.size) co_yield does::send(r.real(child), c.bytes * (r.end(child, step) - child), 0, begun++);
  }
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
}

}  // namespace

collective_family gather_family() {
  constexpr std::uint64_t kib = 1024;
  return {.name = "gather",
          .meaning = "algorithm of gathering to one",
          .of = {collective::gather, collective::gatherv},
          .algorithms = {{"linear", linear_gather}, {"binomial", binomial_gather}},
          .rules = {{4, 4, "linear"},
                    {4, 32 * kib, "binomial"},
                    {4, 64 * kib, "linear"},
                    {4, 128 * kib, "binomial"},
                    {4, any_bytes, "linear"},
                    {8, 1 * kib, "binomial"},
                    {8, 8 * kib, "linear"},
                    {8, 32 * kib, "binomial"},
                    {8, any_bytes, "linear"},
                    {256, any_bytes, "binomial"},
                    {512, 2 * kib, "binomial"},
                    {512, 8 * kib, "linear"},
                    {any_size, any_bytes, "binomial"}}};
}

collective_family scatter_family() {
  constexpr std::uint64_t kib = 1024;
  return {.name = "scatter",
          .meaning = "algorithm of scattering from one",
          .of = {collective::scatter, collective::scatterv},
          .algorithms = {{"linear", linear_scatter}, {"binomial", binomial_scatter}},
          .rules = {{4, any_bytes, "linear"},
                    {8, 2 * kib, "binomial"},
                    {8, 4 * kib, "linear"},
                    {8, 8 * kib, "binomial"},
                    {8, any_bytes, "linear"},
                    {32, 16 * kib, "binomial"},
                    {32, any_bytes, "linear"},
                    {any_size, 512, "binomial"},
                    {64, 8 * kib, "linear"},
                    {64, 16 * kib, "binomial"},
                    {any_size, any_bytes, "linear"}}};
}

}  // namespace lull::netsim
