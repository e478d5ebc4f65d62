// y += a·x on blocks of numbers in another PE's heap; each element is updated exactly once, as a whole.
//
// A lock in the PE's segment serialises the updates of its memory, so accumulates from any number of PEs and from its
// own progress thread may overlap. They are not atomic with respect to puts, gets and atomics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lull::fabric {

enum class number : std::uint8_t { int_, long_, float_, double_, complex_float, complex_double };

[[nodiscard]] std::size_t size_of(number type);

struct axpy {  // the type of the elements, and the factor in that type
  number type;
  alignas(8) std::array<std::byte, 16> factor;
};

// target[i] += factor · source[i] for the elements in `bytes` bytes. No alignment is required.
void apply_axpy(const axpy& how, void* target, const void* source, std::size_t bytes);

}  // namespace lull::fabric
