// The measured cost of ending a phase on each route: once per job, by phases without items through small buffers,
// without replies. A choice among routes thus begins with measured ends, and only the cost of the items is predicted.
#pragma once
#include <optional>
#include <span>

#include "aggregate/plan/plan.hpp"
#include "lull/aggregate.hpp"

namespace lull::aggregate {

[[nodiscard]] bool ends_are_measured();

// Measures all of them, unless that was done before. Collective; the result of PE 0 holds for all. `options`: of the
// aggregator for which they are measured.
void measure_ends(fabric::world& world, std::span<const candidate> routes, const aggregate_options& options);

// In ns; empty if it was not measured, or if there was no room for it.
[[nodiscard]] std::optional<double> measured_end(const scheme& how);

}  // namespace lull::aggregate
