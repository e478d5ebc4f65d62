// What ends a phase on each route, measured: once in a job, by phases without items through small buffers, without answers. So a choice
// among routes begins with what their ends cost here, and only what their items cost is predicted.
#pragma once
#include <optional>
#include <span>

#include "aggregate/plan/plan.hpp"
#include "lull/aggregate.hpp"

namespace lull::aggregate {

[[nodiscard]] bool ends_are_measured();

// Of all of them, unless that was done before. Collective; what PE 0 finds holds for all. `options`: of the aggregator that they are
// for.
void measure_ends(fabric::world& world, std::span<const candidate> routes, const aggregate_options& options);

// ns; nothing where it was not measured, or there was no room for it.
[[nodiscard]] std::optional<double> measured_end(const scheme& how);

}  // namespace lull::aggregate
