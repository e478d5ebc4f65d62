// Shared by tests that run whole simulations: a small network to start from, a result as text, and the statistics by
// which a simulated mean is compared with a theory.
#pragma once
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "netsim/simulation.hpp"

namespace lull::netsim {

inline std::vector<std::uint32_t> first_nodes(std::uint32_t count, std::uint32_t first = 0) {
  std::vector<std::uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), first);
  return nodes;
}

// All results of a run except its duration: two runs are the same to the bit if and only if these are.
inline std::string as_text(const histogram& h) {
  return fmt::format("{} {:a} {} {} {} {} {}\n", h.count, h.sum, h.least, h.most, fmt::join(h.counts, ","),
                     fmt::join(h.batch_means, ","), fmt::join(h.batch_counts, ","));
}
inline std::string as_text(const result& r) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", r.ended, r.events, r.packets, r.packet_hops,
                  r.packets_injected, r.bytes_injected, r.bytes_delivered, r.messages_created, r.messages_delivered,
                  r.stopped, r.virtual_channels, r.fifo, r.window);
  text += as_text(r.packet_latency) + as_text(r.network_latency) + fmt::format("{}\n", fmt::join(r.hops, ","));
  for (const job_result& j : r.jobs)
    text += fmt::format("{} {} {} {} {} {}\n", j.name, j.started, j.ended, j.messages, j.bytes,
                        fmt::join(j.iteration_ends, ",")) +
            as_text(j.message_latency);
  for (const link_result& l : r.links)
    text += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", l.from, l.to, static_cast<int>(l.kind), l.packets, l.bytes,
                        l.wakes, l.deep_sleep, l.fast_wake, l.slow, l.busy);
  return text;
}

// A mean of independent samples, and half the width of its 99.9 % confidence interval.
struct estimate {
  double mean;
  double half_width;
};

// Student's t, two-sided 99.9 %, by Hill's expansion of the quantile in the normal one (1970): accurate to 1 % from 10
// degrees of freedom on.
inline double student_999(double freedom) {
  constexpr double z = 3.2905;
  const double z2 = z * z;
  return z + z * (z2 + 1) / (4 * freedom) + z * ((5 * z2 + 16) * z2 + 3) / (96 * freedom * freedom) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * freedom * freedom * freedom);
}
inline estimate estimate_of(std::span<const double> samples) {
  const auto n = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  double squares = 0;
  for (const double s : samples) squares += (s - mean) * (s - mean);
  return {mean, student_999(n - 1) * std::sqrt(squares / (n - 1) / n)};
}

// The same from the means of consecutive batches of `counts` samples (the ratio estimator).
inline estimate estimate_of(std::span<const double> means, std::span<const std::uint64_t> counts) {
  double sum = 0, all = 0, squares = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    sum += means[i] * static_cast<double>(counts[i]);
    all += static_cast<double>(counts[i]);
  }
  const double mean = sum / all;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double deviation = static_cast<double>(counts[i]) / all * (means[i] - mean);
    squares += deviation * deviation;
  }
  const auto n = static_cast<double>(means.size());
  return {mean, student_999(n - 1) * std::sqrt(squares * n / (n - 1))};
}

}  // namespace lull::netsim
