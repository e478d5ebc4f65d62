// miniFE: finite elements on a box, solved by conjugate gradients.
//
// Source: miniFE (c79e0f7), ref/src/cg_solve.hpp, exchange_externals.hpp, make_local_matrix.hpp,
// ref/utils/BoxPartition.cpp. It was built and measured: messages and bytes of each pair of processes on 8 and 16
// processes are those of this file.
// A step is an iteration: a dot product, the exchange of what 27-point rows need of their neighbours, the product,
// another dot product. All boxes that touch are neighbours; the last box along a side has one more plane of nodes.
// Ranks halve the box, and its halves, along z, y, x and so on; of an odd number of ranks, the upper half gets more.
// Assumptions: beyond 256 processes each keeps 64 elements along a side of the grid of processes, as far as that is
// cubic; 90 % of the computing is the product, 4 % the dot products; 200 iterations take 2.03 s on 256 processes, as
// published, nearly all of it computing. The exchange before the first iteration is included.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "netsim/program/exchange.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t node_bytes = 8;
constexpr picoseconds usual_time = 10'100 * microseconds;
constexpr double usual_elements = 64.0 * 64 * 64, in_product = 0.9, in_dots = 0.04;

using box = std::array<std::array<std::int64_t, 2>, 3>;  // along x, y, z: from, to

// The number of nodes of one box that are at most one node away from the other.
std::int64_t near(const box& one, const box& other) {
  std::int64_t nodes = 1;
  for (std::size_t d = 0; d < 3; ++d)
    nodes *= std::max<std::int64_t>(0, std::min(one[d][1], other[d][1] + 1) - std::max(one[d][0], other[d][0] - 1));
  return nodes;
}

enum unit_kind : std::uint32_t { preparation, iteration };

class minife final : public program {
 public:
  minife(const job_setup& setup, const reader& from)
      : processes_(setup.size()), steps_(steps_of(from, 200)), step_time_(step_time_of(from, usual_time)) {
    const std::vector<std::int64_t> sides = cubic_grid(processes_, 3);
    triple usual{};
    for (std::size_t d = 0; d < 3; ++d) usual[d] = static_cast<std::uint32_t>(64 * sides[d]);
    elements_ = extent_of(setup, from, "elements", usual, {1, 1, 1});
    const part whole = all();
    bool each_has_one = true;
    visit(
        whole, [](const box&) { return true; },
        [&](std::uint32_t, const box& b) {
          for (const auto& side : b) each_has_one = each_has_one && side[0] < side[1];
        });
    setup.require(each_has_one, "elements", "are too few for this many processes",
                  "give each process at least one along each side");
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  // Ranks from `first` on, and the elements that they have in total.
  struct part {
    std::uint32_t first, count;
    std::size_t along;
    box elements;
  };
  [[nodiscard]] part all() const {
    return {0, processes_, 2, {{{0, elements_[0]}, {0, elements_[1]}, {0, elements_[2]}}}};
  }
  // Calls leaf(rank, elements) for all processes in the parts for which wanted(elements) is true.
  template <class Wanted, class Leaf>
  static void visit(const part& of, const Wanted& wanted, const Leaf& leaf) {
    if (!wanted(of.elements)) return;
    if (of.count == 1) return leaf(of.first, of.elements);
    const std::uint32_t lower = of.count / 2, upper = of.count - lower;
    const auto [from, to] = of.elements[of.along];
    const std::int64_t cut = to - (to - from) * upper / of.count;
    const std::size_t next = (of.along + 2) % 3;
    part low{of.first, lower, next, of.elements}, high{of.first + lower, upper, next, of.elements};
    low.elements[of.along][1] = cut;
    high.elements[of.along][0] = cut;
    visit(low, wanted, leaf);
    visit(high, wanted, leaf);
  }
  [[nodiscard]] box nodes_of(box elements) const {
    for (std::size_t d = 0; d < 3; ++d) elements[d][1] += elements[d][1] == elements_[d] ? 1 : 0;
    return elements;
  }
  [[nodiscard]] box elements_of(std::uint32_t rank) const;
  [[nodiscard]] std::vector<partner> neighbours_of(std::uint32_t rank) const;

  std::uint32_t processes_;
  triple elements_{};
  std::uint32_t steps_;
  picoseconds step_time_;
};

box minife::elements_of(std::uint32_t rank) const {
  part at = all();
  while (at.count > 1) {
    const std::uint32_t lower = at.count / 2, upper = at.count - lower;
    const auto [from, to] = at.elements[at.along];
    const std::int64_t cut = to - (to - from) * upper / at.count;
    const bool below = rank < at.first + lower;
    at.elements[at.along][below ? 1 : 0] = cut;
    if (!below) at.first += lower;
    at.count = below ? lower : upper;
    at.along = (at.along + 2) % 3;
  }
  return at.elements;
}

std::vector<partner> minife::neighbours_of(std::uint32_t rank) const {
  const box own = nodes_of(elements_of(rank));
  std::vector<partner> result;
  visit(
      all(), [&](const box& elements) { return near(own, nodes_of(elements)) > 0; },
      [&](std::uint32_t other, const box& elements) {
        const box theirs = nodes_of(elements);
        if (other != rank)
          result.push_back({other, node_bytes * static_cast<std::uint64_t>(near(own, theirs)),
                            node_bytes * static_cast<std::uint64_t>(near(theirs, own))});
      });
  return result;
}

stream minife::of(std::uint32_t rank, const completions& /*done*/) const {
  const std::vector<partner> neighbours = neighbours_of(rank);
  double elements = 1;
  for (const auto& side : elements_of(rank)) elements *= static_cast<double>(side[1] - side[0]);
  const picoseconds all = share_of(step_time_, elements / usual_elements);
  // Sends block, in the order of neighbours; then the receives are waited for in that order.
  constexpr auto externals = [](const std::vector<partner>& of) { return exchange(of, 0, exchange::sends::blocking); };
  co_yield does::unit(preparation);
  co_yield externals(neighbours);
  for (std::uint32_t step = 0; step < steps_; ++step) {
    co_yield does::unit(iteration);
    co_yield does::compute(share_of(all, in_dots / 2));
    co_yield does::all_of(collective::allreduce, 8);
    co_yield does::compute(share_of(all, (1 - in_product - in_dots) / 2));
    co_yield externals(neighbours);
    co_yield does::compute(share_of(all, in_product + in_dots / 2));
    co_yield does::all_of(collective::allreduce, 8);
    co_yield does::compute(share_of(all, (1 - in_product - in_dots) / 2));
    co_yield does::iteration();
  }
}

}  // namespace

skeleton minife_skeleton() {
  return {"minife",
          "miniFE: conjugate gradients on boxes of finite elements",
          {{.name = "elements",
            .meaning = "elements of the whole box along x, y, z",
            .otherwise = "64 for each process of the most cubic grid",
            .least = 1,
            .most = 1 << 24,
            .list = true},
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<minife>(setup, from);
          }};
}

}  // namespace lull::netsim
