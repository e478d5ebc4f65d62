// Reduces the vectors of all processes, with the result on all.
//
// recursive-doubling  in step k, processes whose ranks differ in bit k exchange all that they have
// ring                pieces are combined around a ring, then passed around it (Patarasuk and Yuan 2009)
// rabenseifner        pieces are combined by recursive halving, then gathered by recursive doubling (Rabenseifner 2004)
// binary-tree         up a binary tree to rank 0, and down again
// non-overlapping     a reduction to rank 0, then a broadcast, each by its rules
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c) for commutative
// operations; its segmented ring is replaced by ring.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream recursive_doubling(collective_call c) {
  const folded f(c.size);
  enum : std::uint32_t { in, out, doubling };
  if (c.rank >= f.core) {
    co_yield does::send(c.rank - f.core, c.bytes, in);
    co_yield does::receive(c.rank - f.core, c.bytes, out);
    co_return;
  }
  if (c.rank < f.extra) co_yield does::receive(c.rank + f.core, c.bytes, in);
  for (std::uint32_t bit = 1; bit < f.core; bit *= 2) {
    co_yield does::send(c.rank ^ bit, c.bytes, doubling, 0);
    co_yield does::receive(c.rank ^ bit, c.bytes, doubling);
    co_yield does::wait(0);
  }
  if (c.rank < f.extra) co_yield does::send(c.rank + f.core, c.bytes, out);
}

stream ring(collective_call c) {
  if (c.size == 1) co_return;
  const std::uint32_t after = (c.rank + 1) % c.size;
  const std::uint32_t before = (c.rank + c.size - 1) % c.size;
  // The first round combines: the piece of the next rank ends here. The second passes the results around.
  for (std::uint32_t step = 0; step < 2 * (c.size - 1); ++step) {
    const std::uint32_t piece = (c.rank + 2 * c.size - step) % c.size;
    const std::uint32_t its = (piece + c.size - 1) % c.size;
    co_yield does::send(after, pieces(c.bytes, c.size, piece, piece + 1), step, 0);
    co_yield does::receive(before, pieces(c.bytes, c.size, its, its + 1), step);
    co_yield does::wait(0);
  }
}

stream rabenseifner(collective_call c) {
  const folded f(c.size);
  enum : std::uint32_t { in, out, halving, doubling };
  if (c.rank >= f.core) {
    co_yield does::send(c.rank - f.core, c.bytes, in);
    co_yield does::receive(c.rank - f.core, c.bytes, out);
    co_return;
  }
  if (c.rank < f.extra) co_yield does::receive(c.rank + f.core, c.bytes, in);
  std::uint32_t first = 0;
  std::uint32_t last = f.core;
  for (std::uint32_t bit = f.core / 2; bit > 0; bit /= 2) {
    const bool upper = (c.rank & bit) != 0;
    const std::uint64_t low = pieces(c.bytes, f.core, first, first + bit);
    const std::uint64_t high = pieces(c.bytes, f.core, first + bit, last);
    co_yield does::send(c.rank ^ bit, upper ? low : high, halving, 0);
    co_yield does::receive(c.rank ^ bit, upper ? high : low, halving);
    co_yield does::wait(0);
    (upper ? first : last) = first + bit;
  }
  for (std::uint32_t bit = 1; bit < f.core; bit *= 2) {
    const std::uint32_t mine = c.rank & ~(bit - 1);
    const std::uint32_t its = mine ^ bit;
    co_yield does::send(c.rank ^ bit, pieces(c.bytes, f.core, mine, mine + bit), doubling, 0);
    co_yield does::receive(c.rank ^ bit, pieces(c.bytes, f.core, its, its + bit), doubling);
    co_yield does::wait(0);
  }
  if (c.rank < f.extra) co_yield does::send(c.rank + f.core, c.bytes, out);
}

stream binary_tree(collective_call c) {
  c.root = 0;
  co_yield tree_reduce(c);
  co_yield tree_broadcast(c);
}

stream non_overlapping(collective_call c) {
  c.root = 0;
  co_yield schedule_by_rules(collective::reduce, c);
  co_yield with_tags_apart(schedule_by_rules(collective::broadcast, c));
}

}  // namespace

collective_family allreduce_family() {
  constexpr std::uint64_t kib = 1024;
  return {.name = "allreduce",
          .meaning = "algorithm of reductions to all",
          .of = {collective::allreduce},
          .algorithms = {{"recursive-doubling", recursive_doubling},
                         {"ring", ring},
                         {"rabenseifner", rabenseifner},
                         {"binary-tree", binary_tree},
                         {"non-overlapping", non_overlapping}},
          .rules = {{4, 8, "ring"},
                    {4, 4 * kib, "recursive-doubling"},
                    {4, 8 * kib, "ring"},
                    {4, 16 * kib, "recursive-doubling"},
                    {4, 256 * kib, "ring"},
                    {4, any_bytes, "rabenseifner"},
                    {8, 16, "ring"},
                    {16, 8 * kib, "recursive-doubling"},
                    {16, any_bytes, "rabenseifner"},
                    {32, 64, "ring"},
                    {32, 4 * kib, "recursive-doubling"},
                    {32, any_bytes, "rabenseifner"},
                    {64, 128, "ring"},
                    {64, any_bytes, "rabenseifner"},
                    {128, 256 * kib, "recursive-doubling"},
                    {128, any_bytes, "rabenseifner"},
                    {256, 128 * kib, "non-overlapping"},
                    {256, 256 * kib, "recursive-doubling"},
                    {256, any_bytes, "rabenseifner"},
                    {512, 4 * kib, "non-overlapping"},
                    {512, any_bytes, "rabenseifner"},
                    {2048, 2 * kib, "non-overlapping"},
                    {2048, 16 * kib, "recursive-doubling"},
                    {2048, any_bytes, "rabenseifner"},
                    {4096, 2 * kib, "non-overlapping"},
                    {4096, 4 * kib, "ring"},
                    {4096, 16 * kib, "recursive-doubling"},
                    {4096, any_bytes, "rabenseifner"},
                    {any_size, 2 * kib, "non-overlapping"},
                    {any_size, 16 * kib, "ring"},
                    {any_size, 32 * kib, "recursive-doubling"},
                    {any_size, any_bytes, "rabenseifner"}}};
}

}  // namespace lull::netsim
