// Whether LULL_RDMA=auto registers the symmetric heap with the network's adapter.
//
// Registration locks every page of the heap in memory, also those that the program never touches, and each adapter of
// the host registers them again. The user has not requested that, so it must be affordable: the heaps of all PEs of the
// host take at most an eighth of its memory, and the process may lock what is registered, in addition to the buffers of
// the network's library. Otherwise transfers remain messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "transport/options.hpp"

namespace lull::transport {

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t bytes_of_network_buffers = std::uint64_t{128} << 20U;  // that UCX locks, at most

struct memory_limits {
  std::uint64_t bytes;         // of the host, or of a cgroup of this process that permits less
  std::uint64_t locked_bytes;  // ulimit -l
};
[[nodiscard]] memory_limits limits_of_this_process();

// Bytes that the cgroups of a process and those above them permit it, or no_limit. `list` is its /proc/self/cgroup, and
// `mount` usually /sys/fs/cgroup.
[[nodiscard]] std::uint64_t limit_of_cgroups(const std::filesystem::path& list, const std::filesystem::path& mount);

// The limit of locked memory in words: "ulimit -l is 64 KiB".
[[nodiscard]] std::string limit_in_words(std::uint64_t locked_bytes);

// Why the memory is not registered with so many adapters, as a clause; empty if it is.
[[nodiscard]] std::string why_not_registered(const options& wanted, std::size_t adapters, const memory_limits& limits);

}  // namespace lull::transport
