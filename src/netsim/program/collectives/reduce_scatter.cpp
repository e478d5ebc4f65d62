// Reduces the vectors of all processes; each process gets one piece of the result.
//
// recursive-halving  in step k, processes whose ranks differ in bit k exchange half of what they have, the highest bit
//                    first
// ring               pieces are combined around a ring
// non-overlapping    a reduction to rank 0, then a scatter, each by its rules
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c) for commutative
// operations; its butterfly is replaced by recursive-halving.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

// The number of bytes for which the ranks first..last (last excluded) of a folded group are responsible.
std::uint64_t folded_pieces(const collective_call& c, const folded& f, std::uint32_t first, std::uint32_t last) {
  return pieces(c.bytes, c.size, first, last) +
         pieces(c.bytes, c.size, f.core + std::min(first, f.extra), f.core + std::min(last, f.extra));
}

stream recursive_halving(collective_call c) {
  const folded f(c.size);
  enum : std::uint32_t { in, out, halving };
  if (c.rank >= f.core) {
    co_yield does::send(c.rank - f.core, c.bytes, in);
    co_yield does::receive(c.rank - f.core, pieces(c.bytes, c.size, c.rank, c.rank + 1), out);
    co_return;
  }
  if (c.rank < f.extra) co_yield does::receive(c.rank + f.core, c.bytes, in);
  std::uint32_t first = 0;
  std::uint32_t last = f.core;
  for (std::uint32_t bit = f.core / 2; bit > 0; bit /= 2) {
    const bool upper = (c.rank & bit) != 0;
    const std::uint64_t low = folded_pieces(c, f, first, first + bit);
    const std::uint64_t high = folded_pieces(c, f, first + bit, last);
    co_yield does::send(c.rank ^ bit, upper ? low : high, halving, 0);
    co_yield does::receive(c.rank ^ bit, upper ? high : low, halving);
    co_yield does::wait(0);
    (upper ? first : last) = first + bit;
  }
  if (c.rank < f.extra) {
    const std::uint32_t its = c.rank + f.core;
    co_yield does::send(its, pieces(c.bytes, c.size, its, its + 1), out);
  }
}

stream ring(collective_call c) {
  for (std::uint32_t step = 1; step < c.size; ++step) {
    const std::uint32_t piece = (c.rank + c.size - step) % c.size;
    const std::uint32_t its = (piece + c.size - 1) % c.size;
    co_yield does::send((c.rank + 1) % c.size, pieces(c.bytes, c.size, piece, piece + 1), step, 0);
    co_yield does::receive((c.rank + c.size - 1) % c.size, pieces(c.bytes, c.size, its, its + 1), step);
    co_yield does::wait(0);
  }
}

stream non_overlapping(collective_call c) {
  c.root = 0;
  co_yield schedule_by_rules(collective::reduce, c);
  // Each piece of the scatter has the mean length of these.
  c.bytes = (c.bytes + c.size - 1) / c.size;
  co_yield with_tags_apart(schedule_by_rules(collective::scatter, c));
}

}  // namespace

collective_family reduce_scatter_family() {
  constexpr std::uint64_t kib = 1024;
  return {
      .name = "reduce_scatter",
      .meaning = "algorithm of reductions of which each process gets a part",
      .of = {collective::reduce_scatter, collective::reduce_scatter_block},
      .algorithms = {{"recursive-halving", recursive_halving}, {"ring", ring}, {"non-overlapping", non_overlapping}},
      .rules = {{4, 64 * kib, "ring"},
                {4, 128 * kib, "recursive-halving"},
                {4, any_bytes, "ring"},
                {8, 8, "non-overlapping"},
                {32, 256 * kib, "recursive-halving"},
                {32, any_bytes, "ring"},
                {64, 64, "non-overlapping"},
                {64, 512 * kib, "recursive-halving"},
                {64, any_bytes, "ring"},
                {512, 256, "non-overlapping"},
                {512, any_bytes, "recursive-halving"},
                {4096, 512, "non-overlapping"},
                {4096, any_bytes, "recursive-halving"},
                {any_size, 1 * kib, "non-overlapping"},
                {any_size, any_bytes, "recursive-halving"}}};
}

}  // namespace lull::netsim
