// Checks whether the memory suffices for a simulation: before it begins, and when an allocation fails. Either error is
// one line.
#pragma once
#include <sys/sysinfo.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"

namespace lull::netsim {

inline constexpr const char* less_memory =
    "simulate fewer nodes, processes or virtual channels, or use a machine with more memory";

// Returns what `f` returns. Throws lull::error with the text of `action` if an allocation in `f` fails.
template <class F>
decltype(auto) within_memory(const std::string& action, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw error(action, "there is not enough memory", less_memory);
  } catch (const std::length_error&) {
    throw error(action, "there is not enough memory", less_memory);
  }
}

// Memory of this machine in bytes, swap included.
[[nodiscard]] inline std::uint64_t memory_of_machine() {
  struct sysinfo found {};
  return sysinfo(&found) == 0 ? (std::uint64_t{found.totalram} + found.totalswap) * found.mem_unit : ~std::uint64_t{0};
}

// If memory is overcommitted, an allocation that is too large succeeds, and the process is killed when it uses the
// memory.
inline void require_memory(std::uint64_t links, std::uint64_t bytes, std::uint64_t of_machine = memory_of_machine()) {
  constexpr double gb = 1e9;
  if (bytes > of_machine)
    throw error("simulate the network",
                fmt::format("its {} links need {:.1f} GB of memory, but the machine has {:.1f} GB", links,
                            static_cast<double>(bytes) / gb, static_cast<double>(of_machine) / gb),
                less_memory);
}

}  // namespace lull::netsim
