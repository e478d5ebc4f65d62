// Whether a simulation has memory enough, said in one line: before it begins where the machine can never have it, and where
// an allocation fails.
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
    "simulate fewer nodes, processes or virtual channels, or give it more memory";

// What `f` returns. Throws lull::error that begins with `asked` where memory does not suffice for `f`.
template <class F>
decltype(auto) within_memory(const std::string& asked, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw error(asked, "there is not enough memory", less_memory);
  } catch (const std::length_error&) {
    throw error(asked, "there is not enough memory", less_memory);
  }
}

// Of this machine, swap included.
[[nodiscard]] inline std::uint64_t memory_of_machine() {
  struct sysinfo found {};
  return sysinfo(&found) == 0 ? (std::uint64_t{found.totalram} + found.totalswap) * found.mem_unit : ~std::uint64_t{0};
}

// Where memory is overcommitted, more than there is can be allocated, and ends the process as it is used.
inline void require_memory(std::uint64_t links, std::uint64_t bytes, std::uint64_t of_machine = memory_of_machine()) {
  constexpr double gb = 1e9;
  if (bytes > of_machine)
    throw error("simulate the network",
                fmt::format("its {} links need {:.1f} GB of memory, and there are {:.1f} GB", links,
                            static_cast<double>(bytes) / gb, static_cast<double>(of_machine) / gb),
                less_memory);
}

}  // namespace lull::netsim
