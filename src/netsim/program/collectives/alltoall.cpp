// Each process sends a different block to each other process. A process keeps its block for itself.
//
// linear    all at once, but with no more than 32 other processes at a time
// pairwise  in step k to the process k ranks after, and from the process k ranks before
// bruck     in step k all blocks whose remaining distance has bit k set move 2^k ranks on (Bruck et al. 1997)
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c); its synchronised
// linear exchange is replaced by linear, its two-process exchange by pairwise.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream linear(collective_call c) {
  constexpr std::uint32_t most = 32;
  // Requests of a step: the odd one receives, the even one before it sends.
  for (std::uint32_t step = 1; step < c.size; ++step) {
    const std::uint32_t request = step % most * 2;
    if (step > most) {
      co_yield does::wait(request + 1);
      co_yield does::wait(request);
    }
    co_yield does::receive((c.rank + c.size - step) % c.size, c.bytes, 0, request + 1);
    co_yield does::send((c.rank + step) % c.size, c.bytes, 0, request);
  }
  for (std::uint32_t step = c.size > most ? c.size - most : 1; step < c.size; ++step) {
    co_yield does::wait(step % most * 2 + 1);
    co_yield does::wait(step % most * 2);
  }
}

stream pairwise(collective_call c) {
  for (std::uint32_t step = 1; step < c.size; ++step) {
    co_yield does::send((c.rank + step) % c.size, c.bytes, 0, 0);
    co_yield does::receive((c.rank + c.size - step) % c.size, c.bytes, 0);
    co_yield does::wait(0);
  }
}

// How many numbers below `end` have this bit set.
constexpr std::uint64_t with_bit(std::uint64_t end, std::uint64_t bit) {
  return end / (2 * bit) * bit + (end % (2 * bit) > bit ? end % (2 * bit) - bit : 0);
}

stream bruck(collective_call c) {
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < c.size; distance *= 2, ++step) {
    const auto d = static_cast<std::uint32_t>(distance);
    const std::uint64_t bytes = c.bytes * with_bit(c.size, distance);
    co_yield does::send((c.rank + d) % c.size, bytes, step, 0);
    co_yield does::receive((c.rank + c.size - d) % c.size, bytes, step);
    co_yield does::wait(0);
  }
}

}  // namespace

collective_family alltoall_family() {
  constexpr std::uint64_t kib = 1024;
  return {.name = "alltoall",
          .meaning = "algorithm of exchanges of all with all",
          .of = {collective::alltoall, collective::alltoallv, collective::alltoallw},
          .algorithms = {{"linear", linear}, {"pairwise", pairwise}, {"bruck", bruck}},
          .rules = {{3, 32 * kib, "pairwise"},
                    {3, 256 * kib, "linear"},
                    {3, any_bytes, "pairwise"},
                    {8, 512 * kib, "linear"},
                    {8, 1024 * kib, "pairwise"},
                    {16, any_bytes, "linear"},
                    {32, 4, "linear"},
                    {64, 512, "bruck"},
                    {64, any_bytes, "linear"},
                    {512, 1 * kib, "bruck"},
                    {256, 256 * kib, "linear"},
                    {512, 32 * kib, "linear"},
                    {512, any_bytes, "pairwise"},
                    {2048, 512, "bruck"},
                    {1024, 256 * kib, "linear"},
                    {1024, any_bytes, "pairwise"},
                    {2048, any_bytes, "linear"},
                    {4096, 1 * kib, "bruck"},
                    {4096, any_bytes, "linear"},
                    {any_size, 2 * kib, "bruck"},
                    {any_size, any_bytes, "linear"}}};
}

}  // namespace lull::netsim
