// Carries out one pattern repeatedly, times it, and compares what has arrived.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "driver.hpp"
#include "options.hpp"

namespace gpu_patterns {

struct result {
  std::uint64_t payloads = 0;
  double latency_us = 0, p10_us = 0, p90_us = 0;  // of a payload; a random selection of all
  double gb_per_s = 0, copies_per_s = 0, cpu_us = 0;
  bool right = false;
};

class bench {
 public:
  bench(const library& cuda, const options& wanted);

  [[nodiscard]] result measure(const access_patterns::pattern& of, std::uint64_t fragments);

 private:
  void prepare(const access_patterns::pattern& of);
  void go_through(const access_patterns::pattern& of, std::uint64_t fragments);
  void carry_out(access_patterns::element e, std::size_t at, std::size_t bytes);
  [[nodiscard]] bool arrived();

  const options& wanted_;
  copies copies_;
  std::vector<std::byte> user_;  // pageable: the source, or the destination of data from the GPU
  std::vector<std::byte> expected_;
  device_memory gpu_;
  pinned_memory pinned_;
  stream stream_;  // declared after its memory: its destructor waits for it before that is freed
  std::mt19937_64 draw_;
};

}  // namespace gpu_patterns
