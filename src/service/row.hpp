// The row of a job on this node, as it is kept and passed on: one line of JSON. docs/reference/service-protocol.md describes
// its fields; tests/data/service/rows.jsonl has examples. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "account/attribution.hpp"

namespace lull::service {

// `unix_offset_ns` is what CLOCK_REALTIME is beyond CLOCK_MONOTONIC. Without a newline.
[[nodiscard]] std::string row_of(const account::figures& f, const std::string& node, std::int64_t unix_offset_ns);

}  // namespace lull::service
