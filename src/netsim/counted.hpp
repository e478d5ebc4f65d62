// Counted nouns in messages: "1 process", "2 processes".
#pragma once
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace lull::netsim {

[[nodiscard]] inline std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}
[[nodiscard]] inline std::string counted(std::uint64_t n, const std::string& one) { return counted(n, one, one + "s"); }

}  // namespace lull::netsim
