// The command line of gpu_patterns, read and checked. The patterns are those of access_patterns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "access_patterns/pattern.hpp"
#include "driver.hpp"

namespace gpu_patterns {

struct options {
  std::vector<access_patterns::pattern> patterns;
  std::uint64_t payload = 512U << 10U;   // bytes, of all fragments together
  std::vector<std::uint64_t> fragments;  // numbers of fragments of the payload; default: powers of 16 up to 65536
  std::uint64_t iterations = 0;          // payloads; 0: as many as fill `seconds`
  double seconds = 3;                    // for each pattern and number of fragments: 30 updates of NVML's counter
  int device = 0;
  waiting wait = waiting::spin;
  bool from_gpu = false;
  bool pageable = false;  // P copies from memory that is not pinned, and waits for it
  bool json = false;
};

// Throws usage_error and help_wanted, as access_patterns does.
[[nodiscard]] options parse(int argc, char** argv);

}  // namespace gpu_patterns
