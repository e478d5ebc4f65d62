// Counts latencies as they occur: a histogram with a bounded relative error, and means of consecutive batches, which
// give a confidence interval although successive latencies are correlated.
#pragma once
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

class latency_counter {
 public:
  latency_counter() : counts_(bin_of(picoseconds{1} << 52) + 1) {}

  void add(picoseconds latency) {
    ++counts_[bin_of(latency)];
    batch_sum_ += latency;
    least_ = latency < least_ ? latency : least_;
    most_ = latency > most_ ? latency : most_;
    if (++in_batch_ == batch_size_) [[unlikely]]
      end_batch();
  }
  [[nodiscard]] histogram counted() const;

 private:
  static constexpr std::size_t most_batches = 64;
  [[gnu::noinline, gnu::cold]] void end_batch() {  // kept out of add(), which then needs no stack frame
    means_.push_back(static_cast<double>(batch_sum_) / static_cast<double>(batch_size_));
    sum_ += static_cast<double>(batch_sum_);
    count_ += batch_size_;
    batch_sum_ = 0;
    in_batch_ = 0;
    if (means_.size() < most_batches) return;
    for (std::size_t i = 0; i < most_batches / 2; ++i) means_[i] = (means_[2 * i] + means_[2 * i + 1]) / 2;
    means_.resize(most_batches / 2);
    batch_size_ *= 2;
  }

  std::vector<std::uint64_t> counts_;
  std::vector<double> means_;
  picoseconds batch_sum_ = 0;
  double sum_ = 0;
  std::uint64_t in_batch_ = 0, batch_size_ = 16, count_ = 0;
  picoseconds least_ = never, most_ = 0;
};

inline histogram latency_counter::counted() const {
  histogram h;
  h.counts = counts_;
  while (!h.counts.empty() && h.counts.back() == 0) h.counts.pop_back();
  h.count = count_ + in_batch_;
  h.sum = sum_ + static_cast<double>(batch_sum_);
  h.least = least_;
  h.most = most_;
  h.batch_means = means_;
  return h;
}

}  // namespace lull::netsim
