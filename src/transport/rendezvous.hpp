// The size of a payload from which a message only announces it, if its order is free.
#pragma once
#include <cstddef>

namespace lull::transport {

// LULL_RENDEZVOUS; otherwise UCX_RNDV_THRESH, which UCX's users know; otherwise this machine's measured value. Throws
// lull::error if the value is not a number of bytes, "auto" or "inf".
[[nodiscard]] std::size_t rendezvous_threshold();

}  // namespace lull::transport
