// The executable's global and static variables, made symmetric: OpenSHMEM requires that peers can access them.
//
// Before any PE communicates, the pages of the executable's writable data (.data and .bss, never those of libraries)
// move into shared memory at the same addresses. The program sees no difference; peers map the same pages. A child made
// by fork() gets its own copy, as usual. They stay there when the program ends its use of OpenSHMEM; when it begins
// another, they move to the new shared memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lull::fabric {

struct static_range {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;       // a multiple of the page size; 0: there is none
  std::size_t from_file = 0;   // of these, bytes that the executable's file initialises; the rest is zero at first
  std::uint64_t identity = 0;  // equal in PEs that run the same executable
};

// The pages of the running executable that hold its variables.
[[nodiscard]] static_range find_static_data();

// Moves them into the file `fd` at `offset`, a multiple of the page size. If it cannot, throws lull::error and changes
// nothing.
void move_static_data(const static_range& where, int fd, std::size_t offset);

}  // namespace lull::fabric
