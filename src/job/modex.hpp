// The data that each process of a job publishes for all others at the start of the job (the modex of PMIx), as bytes:
// its place, the cores on which it may run, and additional data of the caller; or only the mistake that it has found.
//
// The bytes begin with the versions of Lull and of this format, because other processes may have loaded another build.
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

using core_set = std::vector<std::uint64_t>;  // a bit for each core number

struct modex_data {
  place where{};
  core_set cores{};
  std::vector<std::byte> added{};
  std::string mistake{};
};

inline constexpr const char* modex_key = "lull.process";

// A mistake that another process has found and published.
class mistake_of_other : public usage_error {
 public:
  using usage_error::usage_error;
};

[[nodiscard]] std::vector<std::byte> to_bytes(const modex_data& of);
// The data of process `from`. Throws lull::error if the bytes are of another version or too few, and mistake_of_other
// if the process has published a mistake.
[[nodiscard]] modex_data modex_data_from(std::span<const std::byte> bytes, pe_id from);

}  // namespace lull::job
