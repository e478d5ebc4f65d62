// From one process to all; the ranks below are relative to the root.
//
// binomial           a tree in which a process forwards to the ranks 2^k after it, the farthest first
// binary-tree        rank r forwards to 2r + 1 and 2r + 2
// linear             the root sends to each
// chain              each forwards to the next, in pipelined segments of 64 KiB
// scatter-allgather  pieces down the binomial tree, then all of them around a ring (van de Geijn 1994)
//
// auto: the switch points of Open MPI from 4.1 on (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c); its k-nomial tree
// is replaced by binomial, its split binary tree by binary-tree, its pipeline by chain.
#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t segment = 65536;  // of a chain, bytes

stream binomial(collective_call c) {
  const rooted r(c);
  const std::uint32_t span = r.span();
  if (r.rank > 0) co_yield does::receive(r.real(r.rank - span), c.bytes, 0);
  std::uint32_t begun = 0;
  for (std::uint32_t step = span / 2; step > 0; step /= 2)
    if (r.rank + step < r.size) co_yield does::send(r.real(r.rank + step), c.bytes, 0, begun++);
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
}

stream linear(collective_call c) {
  const rooted r(c);
  if (r.rank > 0) {
    co_yield does::receive(c.root, c.bytes, 0);
    co_return;
  }
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::send(r.real(other), c.bytes, 0, other);
  for (std::uint32_t other = 1; other < c.size; ++other) co_yield does::wait(other);
}

stream chain(collective_call c) {
  const rooted r(c);
  const auto segments = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (c.bytes + segment - 1) / segment));
  const auto length = [&](std::uint32_t s) { return std::min(segment, c.bytes - s * segment); };
  const bool receives = r.rank > 0;
  const bool sends = r.rank + 1 < r.size;
  const std::uint32_t before = receives ? r.real(r.rank - 1) : 0;
  const std::uint32_t after = sends ? r.real(r.rank + 1) : 0;
  // Requests: 0 sends; 1 and 2 receive alternately, the next segment while one is forwarded.
  if (receives) co_yield does::receive(before, length(0), 0, 1);
  for (std::uint32_t s = 0; s < segments; ++s) {
    if (receives && s + 1 < segments) co_yield does::receive(before, length(s + 1), s + 1, 1 + (s + 1) % 2);
    if (receives) co_yield does::wait(1 + s % 2);
    if (!sends) continue;
    if (s > 0) co_yield does::wait(0);
    co_yield does::send(after, length(s), s, 0);
  }
  if (sends) co_yield does::wait(0);
}

stream scatter_allgather(collective_call c) {
  const rooted r(c);
  const std::uint32_t span = r.span();
  if (r.rank > 0)
    co_yield does::receive(r.real(r.rank - span), pieces(c.bytes, r.size, r.rank, r.end(r.rank, span)), 0);
  std::uint32_t begun = 0;
  for (std::uint32_t step = span / 2; step > 0; step /= 2) {
    const std::uint32_t child = r.rank + step;
    if (child < r.size)
      co_yield does::send(r.real(child), pieces(c.bytes, r.size, child, r.end(child, step)), 0, begun++);
  }
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
  if (r.size == 1) co_return;
  const std::uint32_t after = r.real((r.rank + 1) % r.size);
  const std::uint32_t before = r.real((r.rank + r.size - 1) % r.size);
  for (std::uint32_t step = 0; step + 1 < r.size; ++step) {
    const std::uint32_t mine = (r.rank + r.size - step) % r.size;
    const std::uint32_t its = (mine + r.size - 1) % r.size;
    co_yield does::send(after, pieces(c.bytes, r.size, mine, mine + 1), 1 + step, 0);
    co_yield does::receive(before, pieces(c.bytes, r.size, its, its + 1), 1 + step);
    co_yield does::wait(0);
  }
}

}  // namespace

stream tree_broadcast(collective_call c) {
  const rooted r(c);
  if (r.rank > 0) co_yield does::receive(r.real((r.rank - 1) / 2), c.bytes, 0);
  std::uint32_t begun = 0;
  for (std::uint64_t child = 2ULL * r.rank + 1; child < r.size && begun < 2; ++child)
    co_yield does::send(r.real(static_cast<std::uint32_t>(child)), c.bytes, 0, begun++);
  for (std::uint32_t i = 0; i < begun; ++i) co_yield does::wait(i);
}

collective_family broadcast_family() {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  return {.name = "broadcast",
          .meaning = "algorithm of broadcasts",
          .of = {collective::broadcast},
          .algorithms = {{"binomial", binomial},
                         {"binary-tree", tree_broadcast},
                         {"linear", linear},
                         {"chain", chain},
                         {"scatter-allgather", scatter_allgather}},
          .rules = {{4, 32, "chain"},
                    {4, 256, "binary-tree"},
                    {4, 512, "chain"},
                    {4, 1 * kib, "binomial"},
                    {4, 32 * kib, "linear"},
                    {4, 128 * kib, "binary-tree"},
                    {4, 256 * kib, "chain"},
                    {4, 512 * kib, "linear"},
                    {4, 1 * mib, "binomial"},
                    {4, any_bytes, "binary-tree"},
                    {8, 64, "binary-tree"},
                    {8, 128, "binomial"},
                    {8, 2 * kib, "binary-tree"},
                    {8, 8 * kib, "binomial"},
                    {8, 1 * mib, "linear"},
                    {8, any_bytes, "chain"},
                    {16, 8, "binomial"},
                    {16, 64, "binary-tree"},
                    {16, 4 * kib, "binomial"},
                    {16, 16 * kib, "binary-tree"},
                    {16, 32 * kib, "binomial"},
                    {16, any_bytes, "linear"},
                    {32, 1 * mib, "binomial"},
                    {32, any_bytes, "scatter-allgather"},
                    {128, any_bytes, "binomial"},
                    {256, 2, "binomial"},
                    {256, 16 * kib, "binary-tree"},
                    {256, 32 * kib, "linear"},
                    {256, 64 * kib, "binary-tree"},
                    {256, any_bytes, "binomial"},
                    {1024, 16 * kib, "binomial"},
                    {1024, 32 * kib, "binary-tree"},
                    {1024, any_bytes, "binomial"},
                    {2048, 512 * kib, "binomial"},
                    {2048, any_bytes, "scatter-allgather"},
                    {4096, 256 * kib, "binomial"},
                    {4096, any_bytes, "scatter-allgather"},
                    {any_size, 8 * kib, "binomial"},
                    {any_size, 16 * kib, "binary-tree"},
                    {any_size, 256 * kib, "binomial"},
                    {any_size, any_bytes, "scatter-allgather"}}};
}

}  // namespace lull::netsim
