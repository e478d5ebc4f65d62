#include "irregular/reduction.hpp"

#include <shmem.h>

#include <algorithm>
#include <stdexcept>

namespace irregular {

std::uint64_t reduction::sum(std::uint64_t mine) {
  mine_[0] = mine;
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, result_.data(), mine_.data(), 1);
  return result_[0];
}

std::uint64_t reduction::largest(std::uint64_t mine) {
  mine_[0] = mine;
  shmem_uint64_max_reduce(SHMEM_TEAM_WORLD, result_.data(), mine_.data(), 1);
  return result_[0];
}

void reduction::agree(const std::string& mistake) {
  const auto pes = static_cast<std::uint64_t>(shmem_n_pes());
  const std::uint64_t urgency = mistake.empty() ? 0 : pes - static_cast<std::uint64_t>(shmem_my_pe());
  const std::uint64_t most = largest(urgency);
  if (most == 0) return;
  const auto end = std::copy_n(mistake.begin(), std::min(mistake.size(), line_.size() - 1), line_.data());
  *end = '\0';
  shmem_char_broadcast(SHMEM_TEAM_WORLD, line_of_first_.data(), line_.data(), line_.size(),
                       static_cast<int>(pes - most));
  throw std::runtime_error(line_of_first_.data());
}

}  // namespace irregular
