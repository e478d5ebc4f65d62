// One output of a process: an HDF5 file with a dataset for each quantity and one for the cloud mask, 101 bytes per
// cell.
#pragma once
#include <cstdint>
#include <string>

#include "air.hpp"
#include "grid.hpp"

namespace stencil {

inline constexpr std::uint64_t bytes_of_cell = 25 * sizeof(float) + 1;

// FOLDER/stencil_STEP_RANK.h5. Throws std::runtime_error with HDF5's reason if it cannot be written completely.
void write_output(const std::string& folder, int step, const grid& where, const air& what);

}  // namespace stencil
