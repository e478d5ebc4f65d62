// One pattern, gone through again and again, timed, and what has arrived read back and compared.
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
  std::vector<std::byte> user_;  // pageable: the source, or where what comes from the GPU goes
  std::vector<std::byte> expected_;
  device_memory gpu_;
  pinned_memory pinned_;
  stream stream_;  // behind the memory it copies: it is waited for before that is freed
  std::mt19937_64 draw_;
};

}  // namespace gpu_patterns
