// Times the transfers of one size, on all PEs together.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "options.hpp"
#include "transfer.hpp"

namespace shift {

// Results of all PEs that transfer, on PE 0; `right` on all PEs.
struct result {
  std::size_t bytes = 0;
  std::uint64_t transfers = 0;
  double latency_us = 0, p10_us = 0, p90_us = 0;
  double mb_per_s = 0;  // per PE, while it transfers
  double cpu_s = 0;     // of all threads of these PEs, while they transfer
  double cpu_us = 0;    // per transfer: the median if each is timed individually, with gaps; otherwise the mean
  bool right = true;
};

// The counts of one PE for one size; copied from PE to PE as bytes.
struct account {
  std::array<double, 1024> latency_us{};  // a random selection of all
  std::array<double, 1024> cpu_us{};      // of the same transfers; with gaps only
  std::uint64_t samples = 0, transfers = 0, wrong = 0;
  double transferring_s = 0, cpu_s = 0;
};

// The symmetric cells of a measurement, shared by all sizes. Constructed by all PEs together.
class bench {
 public:
  bench(const options& wanted, transfer& moves);

  // Collective. Transfers `bytes` bytes as often as requested, and verifies the result on request.
  [[nodiscard]] result measure(std::size_t bytes);

 private:
  // Transfers `count` times, each to the next partner; times them in batches of `batch`.
  void run(std::size_t bytes, std::uint64_t count, std::uint64_t batch, account& seen);
  void pause() const;
  [[nodiscard]] std::uint64_t from_first(std::uint64_t mine);
  [[nodiscard]] std::uint64_t verify(std::size_t bytes, std::uint64_t count) const;
  [[nodiscard]] result gather(std::size_t bytes);

  const options& wanted_;
  transfer& moves_;
  std::vector<int> partners_;  // of this PE, in turn; empty if it does not transfer
  symmetric cells_, number_;
};

}  // namespace shift
