// Random numbers that no other process can guess.
#pragma once
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace lull {

// Throws lull::error that begins with `action` if the system has none.
[[nodiscard]] inline std::uint64_t draw_secret(const std::string& action) {
  std::uint64_t secret = 0;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) throw error(action, describe_errno(errno));
  return secret;
}

}  // namespace lull
