// Extrapolates a program to more processes, from its runs on two smaller numbers of processes.
//
// Ranks are places of a grid (rank_grid.hpp). Their behaviour is described by one *template*: a sequence of steps, each
// of which names a neighbour by its offset, or all of a group. A rank takes the steps whose neighbour exists. The
// template is merged from the ranks of the larger program, and must reproduce exactly what every rank of both programs
// does. Then
//
//   sizes            the mean size of each step in the smaller and the larger program determines c P^a, for P processes
//   computing times  before a step, the mean over the larger program's ranks with the same neighbours, scaled by P^a,
//                    where a is that of all steps of this kind, in places that both programs have
//
// Consecutive waits are put into the order in which their requests began.
//
// An exponent within 0.02 of 0, 1/3, 1/2, 2/3, 1, 4/3, 3/2 or 2 (or their negatives) is replaced by that value.
// Differences between ranks with the same neighbours are lost. Less regular programs are rejected: ranks that send to
// all others, numbers of stages that grow with the processes, tags that depend on the rank.
//
// Memory: 12 bytes for each step of the template, and 8 for each kind of place that has it (27 kinds in three
// dimensions).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "netsim/extrapolation/regular_pattern.hpp"
#include "netsim/program/program.hpp"

namespace lull::netsim {

// Throws lull::error, which starts with `asked` and names the first operation that does not fit.
[[nodiscard]] std::unique_ptr<program> extrapolate(const sized_program& smaller, const sized_program& larger,
                                                   std::uint32_t processes, const std::string& asked);

// The power of P that leads from one value to the other, rounded as above; 0 if one of them is 0.
[[nodiscard]] double exponent_between(double smaller, double larger, double ratio_of_processes);

}  // namespace lull::netsim
