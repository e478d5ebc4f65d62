// A program on more processes than it was seen on, from how it does on two smaller numbers of them.
//
// Ranks are places of a grid (rank_grid.hpp). What they do is one *template*, a sequence of steps each of which names a
// neighbour by its offset, or all of a group; a rank does those whose neighbour is there. It is merged of the ranks of the
// larger program, and must give every rank of both of them exactly what it does. Then
//
//   sizes            of each step, its mean in the smaller and the larger program, are c P^a of P processes
//   computing times  before a step, the mean over the larger program's ranks that have the same neighbours; they follow
//                    c P^a, where a is that of all steps of this kind, of places that both programs have
//
// Requests that are waited for one after the other are so in the order in which they began.
//
// An exponent within 0.02 of 0, 1/3, 1/2, 2/3, 1, 4/3, 3/2 or 2, up or down, is taken to be that. Differences between ranks
// with the same neighbours are lost. Whatever is not so regular is refused: a rank that sends to all others, stages that grow
// in number with the processes, tags that depend on the rank.
//
// Memory: 12 bytes for each step of the template, and 8 for each kind of place that has it (27 kinds in three dimensions).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "netsim/extrapolation/regular_pattern.hpp"
#include "netsim/program/program.hpp"

namespace lull::netsim {

// Throws lull::error, begun by `asked`, with the first operation that does not fit.
[[nodiscard]] std::unique_ptr<program> extrapolate(const sized_program& smaller, const sized_program& larger,
                                                   std::uint32_t processes, const std::string& asked);

// The power of P that leads from one value to the other, as above; 0 where one of them is 0.
[[nodiscard]] double exponent_between(double smaller, double larger, double ratio_of_processes);

}  // namespace lull::netsim
