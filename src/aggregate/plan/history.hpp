// The history of an aggregator across changes of its route, and the state of the route's choice. It passes from one
// aggregation to the next.
#pragma once
#include <cstdint>
#include <optional>

#include "aggregate/hops/hop.hpp"
#include "aggregate/plan/phases.hpp"
#include "aggregate/plan/route_choice.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

struct history {
  // Of all earlier aggregations.
  aggregate::hop_counts sent{};
  aggregate::phases::counts phases{};
  std::uint64_t pushed = 0;
  std::int64_t cpu_ns = 0, asleep_ns = 0;

  std::optional<aggregate::route_choice> route{};  // empty: there is no choice
  std::int64_t last_phase_ended_ns = 0;
  std::optional<model::direct_path_costs> direct{};  // measured costs of the direct path
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
