// Counts latencies as they occur: a histogram with a bounded relative error, and means of consecutive batches, which
// give a confidence interval although successive latencies are correlated. All counts are whole numbers, so that several
// counters of parts of a run can be added in any order, with the same sum.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "netsim/simulation.hpp"

namespace lull::netsim {

// Bins like those of HdrHistogram: 16 linear parts of each octave of picoseconds, so a bin is at most 1/16 wide.
[[nodiscard]] constexpr std::size_t bin_of(picoseconds value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < 16) return v;
  const auto octave = static_cast<std::size_t>(std::bit_width(v)) - 5;
  return 16 * octave + (v >> octave);
}
[[nodiscard]] constexpr picoseconds lower_edge(std::size_t bin) {
  if (bin < 32) return static_cast<picoseconds>(bin);
  const std::size_t octave = bin / 16 - 1;
  return static_cast<picoseconds>((bin - 16 * octave) << octave);
}

// A batch contains the latencies that ended in one of up to 64 equal spans of simulated time, which are so long that
// batches have 16 latencies on average.
class latency_counter {
 public:
  // No latency ends before `from`.
  explicit latency_counter(picoseconds from) : counts_(bin_of(picoseconds{1} << 52) + 1), from_(from) {}

  // `ended`: in simulated time.
  void add(picoseconds latency, picoseconds ended) {
    ++counts_[bin_of(latency)];
    least_ = latency < least_ ? latency : least_;
    most_ = latency > most_ ? latency : most_;
    std::uint64_t number = static_cast<std::uint64_t>(ended - from_) >> span_bits_;
    if (number >= most_batches) [[unlikely]]
      number = widen_until(ended);
    batches_[number].sum += latency;
    ++batches_[number].count;
  }
  // Adds those of another counter that began at the same time.
  void add(latency_counter other);
  [[nodiscard]] histogram counted() const;

 private:
  static constexpr std::size_t most_batches = 64;
  static constexpr std::uint64_t least_in_batch = 16;
  struct batch {
    picoseconds sum = 0;
    std::uint64_t count = 0;
  };
  // Kept out of add(), which then needs no stack frame.
  [[gnu::noinline, gnu::cold]] std::uint64_t widen_until(picoseconds ended) {
    while (static_cast<std::uint64_t>(ended - from_) >> span_bits_ >= most_batches) widen();
    return static_cast<std::uint64_t>(ended - from_) >> span_bits_;
  }
  // Doubles the spans.
  void widen() {
    for (std::size_t i = 0; i < most_batches / 2; ++i) {
      const batch& one = batches_[2 * i];
      const batch& next = batches_[2 * i + 1];
      batches_[i] = {one.sum + next.sum, one.count + next.count};
    }
    std::fill(batches_.begin() + most_batches / 2, batches_.end(), batch{});
    ++span_bits_;
  }

  std::vector<std::uint64_t> counts_;
  std::array<batch, most_batches> batches_{};
  unsigned span_bits_ = 14;  // about 16 ns
  picoseconds from_;
  picoseconds least_ = never, most_ = 0;
};

inline void latency_counter::add(latency_counter other) {
  while (other.span_bits_ < span_bits_) other.widen();
  while (span_bits_ < other.span_bits_) widen();
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  for (std::size_t i = 0; i < most_batches; ++i) {
    batches_[i].sum += other.batches_[i].sum;
    batches_[i].count += other.batches_[i].count;
  }
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

inline histogram latency_counter::counted() const {
  __extension__ using wide = __int128;
  histogram h;
  h.counts = counts_;
  while (!h.counts.empty() && h.counts.back() == 0) h.counts.pop_back();
  wide sum = 0;
  for (const batch& b : batches_) {
    h.count += b.count;
    sum += b.sum;
  }
  h.sum = static_cast<double>(sum);
  latency_counter long_enough = *this;
  const auto used = [&] {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(long_enough.batches_, [](const batch& b) { return b.count > 0; }));
  };
  while (used() > 1 && h.count < least_in_batch * used()) long_enough.widen();
  for (const batch& b : long_enough.batches_) {
    if (b.count == 0) continue;
    h.batch_means.push_back(static_cast<double>(b.sum) / static_cast<double>(b.count));
    h.batch_counts.push_back(b.count);
  }
  h.least = least_;
  h.most = most_;
  return h;
}

}  // namespace lull::netsim
