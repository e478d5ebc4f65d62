// Gathers the block of each process on all processes. A block is the data of one process.
//
// ring                each process passes on to the next what it has received last
// recursive-doubling  in step k, processes whose ranks differ in bit k exchange all that they have; bruck if the number
//                     of processes is no power of two
// bruck               in step k, a process sends all that the process 2^k ranks before it lacks to that process
//                     (Bruck et al. 1997)
// neighbor-exchange   with the two neighbours alternately, two blocks at a time (Chen et al. 2005); ring if the number
//                     of processes is odd
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c).
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream ring(collective_call c) {
  for (std::uint32_t step = 0; step + 1 < c.size; ++step) {
    co_yield does::send((c.rank + 1) % c.size, c.bytes, step, 0);
    co_yield does::receive((c.rank + c.size - 1) % c.size, c.bytes, step);
    co_yield does::wait(0);
  }
}

stream bruck(collective_call c) {
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < c.size; distance *= 2, ++step) {
    const auto d = static_cast<std::uint32_t>(distance);
    const std::uint64_t bytes = c.bytes * std::min(d, c.size - d);
    co_yield does::send((c.rank + c.size - d) % c.size, bytes, step, 0);
    co_yield does::receive((c.rank + d) % c.size, bytes, step);
    co_yield does::wait(0);
  }
}

stream recursive_doubling(collective_call c) {
  if (!std::has_single_bit(c.size)) {
    co_yield bruck(c);
    co_return;
  }
  for (std::uint32_t bit = 1; bit < c.size; bit *= 2) {
    co_yield does::send(c.rank ^ bit, c.bytes * bit, 0, 0);
    co_yield does::receive(c.rank ^ bit, c.bytes * bit, 0);
    co_yield does::wait(0);
  }
}

stream neighbor_exchange(collective_call c) {
  if (c.size % 2 != 0) {
    co_yield ring(c);
    co_return;
  }
  const std::uint32_t after = (c.rank + 1) % c.size;
  const std::uint32_t before = (c.rank + c.size - 1) % c.size;
  for (std::uint32_t step = 0; step < c.size / 2; ++step) {
    const std::uint32_t other = (step + c.rank) % 2 == 0 ? after : before;
    const std::uint64_t bytes = step == 0 ? c.bytes : 2 * c.bytes;
    co_yield does::send(other, bytes, step, 0);
    co_yield does::receive(other, bytes, step);
    co_yield does::wait(0);
  }
}

}  // namespace

collective_family allgather_family() {
  constexpr std::uint64_t kib = 1024;
  return {.name = "allgather",
          .meaning = "algorithm of gathering to all",
          .of = {collective::allgather, collective::allgatherv},
          .algorithms = {{"ring", ring},
                         {"recursive-doubling", recursive_doubling},
                         {"bruck", bruck},
                         {"neighbor-exchange", neighbor_exchange}},
          .rules = {{32, any_bytes, "recursive-doubling"},
                    {64, 1 * kib, "recursive-doubling"},
                    {64, 64 * kib, "neighbor-exchange"},
                    {64, any_bytes, "ring"},
                    {256, 512, "recursive-doubling"},
                    {128, 64 * kib, "neighbor-exchange"},
                    {128, any_bytes, "ring"},
                    {256, 128 * kib, "neighbor-exchange"},
                    {256, 512 * kib, "ring"},
                    {256, 1024 * kib, "neighbor-exchange"},
                    {256, any_bytes, "ring"},
                    {512, 32, "recursive-doubling"},
                    {512, 128, "bruck"},
                    {512, 1 * kib, "recursive-doubling"},
                    {512, 128 * kib, "neighbor-exchange"},
                    {512, 512 * kib, "ring"},
                    {512, 1024 * kib, "neighbor-exchange"},
                    {512, any_bytes, "ring"},
                    {1024, 64, "recursive-doubling"},
                    {1024, 256, "bruck"},
                    {1024, 2 * kib, "recursive-doubling"},
                    {1024, any_bytes, "neighbor-exchange"},
                    {2048, 4, "recursive-doubling"},
                    {2048, 8, "bruck"},
                    {2048, 16, "recursive-doubling"},
                    {2048, 32, "bruck"},
                    {2048, 256, "recursive-doubling"},
                    {2048, 512, "bruck"},
                    {2048, 4 * kib, "recursive-doubling"},
                    {2048, any_bytes, "neighbor-exchange"},
                    {4096, 32, "bruck"},
                    {4096, 128, "recursive-doubling"},
                    {4096, 512, "bruck"},
                    {4096, 4 * kib, "recursive-doubling"},
                    {4096, any_bytes, "neighbor-exchange"},
                    {any_size, 2, "recursive-doubling"},
                    {any_size, 8, "bruck"},
                    {any_size, 16, "recursive-doubling"},
                    {any_size, 512, "bruck"},
                    {any_size, 4 * kib, "recursive-doubling"},
                    {any_size, any_bytes, "neighbor-exchange"}}};
}

}  // namespace lull::netsim
