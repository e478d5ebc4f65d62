// Results over all PEs: sums, maxima, and whether one of them has found a mistake. All calls are collective.
#pragma once
#include <cstdint>
#include <string>

#include "irregular/symmetric.hpp"

namespace irregular {

class reduction {
 public:
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine);
  [[nodiscard]] std::uint64_t largest(std::uint64_t mine);

  // Returns if no PE has found a mistake; otherwise throws that of the first PE that has, a std::runtime_error, on all
  // of them. An empty line means no mistake.
  void agree(const std::string& mistake);

 private:
  symmetric_array<std::uint64_t> mine_{1, "a sum"}, result_{1, "a sum"};
  symmetric_array<char> line_{1024, "a line"}, line_of_first_{1024, "a line"};
};

}  // namespace irregular
