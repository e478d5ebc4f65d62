// The key of patterns in which a few processes, those of the lowest ranks, receive more than others.
#pragma once
#include <fmt/format.h>

#include "netsim/workload/workload.hpp"

namespace lull::netsim {

[[nodiscard]] inline key targets_key() {
  return {.name = "targets",
          .meaning = "number of processes to which all others send",
          .by_default = 1,
          .least = 1,
          .most = most_number};
}

[[nodiscard]] inline std::uint32_t read_targets(const job_setup& setup, const reader& from) {
  const std::int64_t targets = from.whole("targets");
  setup.require(targets < setup.size(), "targets", fmt::format("is {}, of {} processes", targets, setup.size()),
                "use fewer targets");
  return static_cast<std::uint32_t>(targets);
}

}  // namespace lull::netsim
