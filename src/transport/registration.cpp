#include "transport/registration.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/counted.hpp"
#include "base/pages.hpp"

namespace lull::transport {
namespace {

constexpr std::uint64_t share_of_memory = 8;

// "max" and what cannot be read are no limit.
std::uint64_t limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  std::uint64_t limit = no_limit;
  if (in >> text) std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

}  // namespace

std::uint64_t limit_of_cgroups(const std::filesystem::path& list, const std::filesystem::path& mount) {
  std::uint64_t least = no_limit;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {  // "0::/path" of version 2, "9:memory:/path" of version 1
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_v2 = controllers == ",,";
    if (!is_v2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::filesystem::path root = is_v2 ? mount : mount / "memory";
    std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
    for (;; group = group.parent_path()) {
      least = std::min(least, limit_in(root / group / (is_v2 ? "memory.max" : "memory.limit_in_bytes")));
      if (group.empty()) break;
    }
  }
  return least;
}

memory_limits limits_of_this_process() {
  const auto pages = std::max(sysconf(_SC_PHYS_PAGES), 0L);
  rlimit locked{};
  const bool is_known = getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  return {.bytes = std::min(static_cast<std::uint64_t>(pages) * page_size(),
                            limit_of_cgroups("/proc/self/cgroup", "/sys/fs/cgroup")),
          .locked_bytes = is_known ? static_cast<std::uint64_t>(locked.rlim_cur) : no_limit};
}

std::string limit_in_words(std::uint64_t locked_bytes) {
  return locked_bytes == no_limit ? "ulimit -l is unlimited" : "ulimit -l is " + size_in_words(locked_bytes);
}

std::string why_not_registered(const options& wanted, std::size_t adapters, const memory_limits& limits) {
  const std::uint64_t heap = wanted.memory.size();
  const auto here = static_cast<std::uint64_t>(std::max(wanted.here, 1));
  if (heap > limits.bytes / share_of_memory / here)
    return "registration would lock the symmetric heaps of " + counted(here, "PE") + ", " + size_in_words(heap * here) +
           ", which is more than an eighth of the memory here, " + size_in_words(limits.bytes);
  const std::uint64_t locked = heap * std::max<std::size_t>(adapters, 1) + bytes_of_network_buffers;
  if (locked > limits.locked_bytes)
    return "registration would lock " + size_in_words(locked) + " in each PE, and " +
           limit_in_words(limits.locked_bytes);
  return {};
}

}  // namespace lull::transport
