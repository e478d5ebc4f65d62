// Indices from a seed or from a file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace irregular {

// `count` indices, uniform in [0, bound); equal for equal (seed, pe).
std::vector<std::uint64_t> uniform_indices(std::uint64_t seed, int pe, std::size_t count, std::uint64_t bound);

// The part of a file's indices for PE `pe` of `pes`: equal consecutive shares. The file contains raw little-endian
// uint64 or, if it is named *.npy, a NumPy array of any integer type. Throws std::runtime_error with one line.
struct file_share {
  std::vector<std::uint64_t> indices;
  std::uint64_t total;  // indices in the whole file
  std::uint64_t bound;  // largest index in the whole file + 1
};
file_share read_share(const std::filesystem::path& path, int pe, int pes);

}  // namespace irregular
