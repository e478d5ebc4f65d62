// Compares the terms of a transfer with those that a test expects.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "model/costs/transfer.hpp"

namespace lull::model {

inline void expect_alike(const transfer_terms& found, const transfer_terms& truth) {
  const auto alike = [](double a, double b) { EXPECT_NEAR(a, b, 1e-7 * std::max(1e-3, b)); };
  alike(found.latency_ns, truth.latency_ns);
  alike(found.send_ns, truth.send_ns);
  alike(found.receive_ns, truth.receive_ns);
  alike(found.gap_ns, truth.gap_ns);
  alike(found.ns_per_byte, truth.ns_per_byte);
  alike(found.alone_ns_per_byte, truth.alone_ns_per_byte);
  alike(found.send_ns_per_byte, truth.send_ns_per_byte);
  alike(found.receive_ns_per_byte, truth.receive_ns_per_byte);
}

}  // namespace lull::model
