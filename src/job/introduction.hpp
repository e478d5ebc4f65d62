// What a process of a job publishes of itself for all others, as bytes: where it is, on which cores it may run, and what its
// user adds; or, where it has found a mistake, only what that is.
//
// It begins with the version of Lull and of these bytes: the others may have loaded another build.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"
#include "job/layout.hpp"

namespace lull::job {

using core_set = std::vector<std::uint64_t>;  // the numbers of cores, one bit each

struct introduction {
  place where{};
  core_set cores{};
  std::vector<std::byte> added{};
  std::string mistake{};
};

inline constexpr const char* introduction_key = "lull.process";  // under which it is published

// Which another process has found, and published.
class mistake_of_other : public usage_error {
 public:
  using usage_error::usage_error;
};

[[nodiscard]] std::vector<std::byte> to_bytes(const introduction& of);
// Of process `from`. Throws lull::error where the bytes are of another version, or too few, and mistake_of_other with what it
// has found.
[[nodiscard]] introduction introduction_from(std::span<const std::byte> bytes, pe_id from);

}  // namespace lull::job
