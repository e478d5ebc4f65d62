// No process leaves before all have entered. Creating or freeing a communicator, a window or memory is a barrier, too.
//
// dissemination       in step k a process signals the one 2^k ranks after it (Hensgen, Finkel and Manber 1988; Open MPI
//                     calls it "bruck")
// recursive-doubling  in step k, processes whose ranks differ in bit k exchange signals
// tree                up a binary tree to rank 0, and down again: a process has two children
// linear              all signal rank 0, which then signals all
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c).
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

stream dissemination(collective_call c) {
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < c.size; distance *= 2, ++step) {
    const auto d = static_cast<std::uint32_t>(distance);
    co_yield does::send((c.rank + d) % c.size, 0, step, 0);
    co_yield does::receive((c.rank + c.size - d) % c.size, 0, step);
    co_yield does::wait(0);
  }
}

stream recursive_doubling(collective_call c) {
  const folded f(c.size);
  constexpr std::uint32_t in = 0;
  constexpr std::uint32_t out = 1;
  if (c.rank >= f.core) {
    co_yield does::send(c.rank - f.core, 0, in);
    co_yield does::receive(c.rank - f.core, 0, out);
    co_return;
  }
  if (c.rank < f.extra) co_yield does::receive(c.rank + f.core, 0, in);
  for (std::uint32_t bit = 1; bit < f.core; bit *= 2) {
    co_yield does::send(c.rank ^ bit, 0, 2, 0);
    co_yield does::receive(c.rank ^ bit, 0, 2);
    co_yield does::wait(0);
  }
  if (c.rank < f.extra) co_yield does::send(c.rank + f.core, 0, out);
}

stream tree(collective_call c) {
  c.bytes = c.root = 0;
  co_yield tree_reduce(c);
  co_yield tree_broadcast(c);
}

stream linear(collective_call c) {
  if (c.rank > 0) {
    co_yield does::send(0, 0, 0);
    co_yield does::receive(0, 0, 1);
    co_return;
  }
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::receive(other, 0, 0, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::send(other, 0, 1, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
}

}  // namespace

collective_family barrier_family() {
  return {
      .name = "barrier",
      .meaning = "algorithm of barriers",
      .of = {collective::barrier, collective::create_handle, collective::destroy_handle, collective::allocate,
             collective::deallocate, collective::create_handle_and_allocate, collective::destroy_handle_and_deallocate},
      .algorithms = {{"dissemination", dissemination},
                     {"recursive-doubling", recursive_doubling},
                     {"tree", tree},
                     {"linear", linear}},
      .rules = {{4, any_bytes, "recursive-doubling"},
                {8, any_bytes, "linear"},
                {64, any_bytes, "recursive-doubling"},
                {256, any_bytes, "dissemination"},
                {512, any_bytes, "tree"},
                {1024, any_bytes, "dissemination"},
                {4096, any_bytes, "tree"},
                {any_size, any_bytes, "dissemination"}}};
}

}  // namespace lull::netsim
