// Reduces the vectors of all processes to one process; the ranks below are relative to the root.
//
// binomial      the tree of a binomial broadcast, upwards
// binary-tree   rank r receives from 2r + 1 and 2r + 2
// linear        the root receives from each
// chain         each forwards to the rank before it, in pipelined segments of 64 KiB
// rabenseifner  pieces are combined by recursive halving, then gathered up a binomial tree (Rabenseifner 2004)
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c) for commutative
// operations; its in-order binary tree is replaced by binary-tree, its pipeline by chain.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t segment = 65536;  // of a chain, bytes

stream binomial(collective_call c) {
  const rooted r(c);
  const std::uint32_t span = r.span();
  std::uint32_t begun = 0;
  for (std::uint32_t step = 1; step < span; step *= 2)
    if (r.rank + step < r.size) co_yield does::receive(r.real(r.rank + step), c.bytes, 0, begun++);
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
  if (r.rank > 0) co_yield does::send(r.real(r.rank - span), c.bytes, 0);
}

stream linear(collective_call c) {
  const rooted r(c);
  if (r.rank > 0) {
    co_yield does::send(c.root, c.bytes, 0);
    co_return;
  }
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::receive(r.real(other), c.bytes, 0, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
}

stream chain(collective_call c) {
  const rooted r(c);
  const auto segments = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (c.bytes + segment - 1) / segment));
  const auto length = [&](std::uint32_t s) { return std::min(segment, c.bytes - s * segment); };
  const bool receives = r.rank + 1 < r.size;
  const bool sends = r.rank > 0;
  const std::uint32_t above = receives ? r.real(r.rank + 1) : 0;
  const std::uint32_t below = sends ? r.real(r.rank - 1) : 0;
  // Requests: 0 sends; 1 and 2 receive alternately, the next segment while one is forwarded.
  if (receives) co_yield does::receive(above, length(0), 0, 1);
  for (std::uint32_t s = 0; s < segments; ++s) {
    if (receives && s + 1 < segments) co_yield does::receive(above, length(s + 1), s + 1, 1 + (s + 1) % 2);
    if (receives) co_yield does::wait(1 + s % 2);
    if (!sends) continue;
    if (s > 0) co_yield does::wait(0);
    co_yield does::send(below, length(s), s, 0);
  }
  if (sends) co_yield does::wait(0);
}

stream rabenseifner(collective_call c) {
  const rooted r(c);
  const folded f(c.size);
  enum : std::uint32_t { in, halving, gathering };
  if (r.rank >= f.core) {
    co_yield does::send(r.real(r.rank - f.core), c.bytes, in);
    co_return;
  }
  if (r.rank < f.extra) co_yield does::receive(r.real(r.rank + f.core), c.bytes, in);
  std::uint32_t first = 0;
  std::uint32_t last = f.core;
  for (std::uint32_t bit = f.core / 2; bit > 0; bit /= 2) {
    const bool upper = (r.rank & bit) != 0;
    const std::uint64_t low = pieces(c.bytes, f.core, first, first + bit);
    const std::uint64_t high = pieces(c.bytes, f.core, first + bit, last);
    co_yield does::send(r.real(r.rank ^ bit), upper ? low : high, halving, 0);
    co_yield does::receive(r.real(r.rank ^ bit), upper ? high : low, halving);
    co_yield does::wait(0);
    (upper ? first : last) = first + bit;
  }
  for (std::uint32_t bit = 1; bit < f.core; bit *= 2) {
    if ((r.rank & bit) != 0) {
      co_yield does::send(r.real(r.rank - bit), pieces(c.bytes, f.core, r.rank, r.rank + bit), gathering);
      co_return;
    }
    co_yield does::receive(r.real(r.rank + bit), pieces(c.bytes, f.core, r.rank + bit, r.rank + 2 * bit), gathering);
  }
}

}  // namespace

stream tree_reduce(collective_call c) {
  const rooted r(c);
  std::uint32_t begun = 0;
  for (std::uint64_t child = 2ULL * r.rank + 1; child < r.size && begun < 2; ++child)
    co_yield does::receive(r.real(static_cast<std::uint32_t>(child)), c.bytes, 0, begun++);
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
  if (r.rank > 0) co_yield does::send(r.real((r.rank - 1) / 2), c.bytes, 0);
}

collective_family reduce_family() {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  return {.name = "reduce",
          .meaning = "algorithm of reductions to one",
          .of = {collective::reduce},
          .algorithms = {{"binomial", binomial},
                         {"binary-tree", tree_reduce},
                         {"linear", linear},
                         {"chain", chain},
                         {"rabenseifner", rabenseifner}},
          .rules = {{4, 8, "rabenseifner"},
                    {4, 16, "binary-tree"},
                    {4, 32, "chain"},
                    {4, 256 * kib, "linear"},
                    {4, any_bytes, "chain"},
                    {8, 4 * kib, "binary-tree"},
                    {8, 64 * kib, "chain"},
                    {8, 256 * kib, "binomial"},
                    {8, 512 * kib, "linear"},
                    {8, 1 * mib, "binomial"},
                    {8, any_bytes, "linear"},
                    {16, 8 * kib, "binary-tree"},
                    {32, 4 * kib, "binary-tree"},
                    {256, any_bytes, "binomial"},
                    {512, 8 * kib, "binomial"},
                    {512, 16 * kib, "binary-tree"},
                    {2048, any_bytes, "binomial"},
                    {4096, 512, "binomial"},
                    {4096, 1 * kib, "binary-tree"},
                    {4096, 8 * kib, "binomial"},
                    {4096, 16 * kib, "binary-tree"},
                    {4096, any_bytes, "binomial"},
                    {any_size, 16, "binomial"},
                    {any_size, 32, "binary-tree"},
                    {any_size, 1 * kib, "binomial"},
                    {any_size, 2 * kib, "binary-tree"},
                    {any_size, 8 * kib, "binomial"},
                    {any_size, 16 * kib, "binary-tree"},
                    {any_size, any_bytes, "binomial"}}};
}

}  // namespace lull::netsim
