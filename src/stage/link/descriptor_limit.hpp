// How many files a server may have outstanding within the system's limit of descriptors.
#pragma once
#include <cstddef>

namespace lull::stage {

// Per client, at least 1. Raises this process's limit as far as permitted.
[[nodiscard]] std::size_t most_outstanding_files(std::size_t clients, std::size_t descriptors_of_a_file);

// Throws lull::error if the program could open only few more files than this process has open already: MPI libraries
// and programs then fail, or wait for each other without end.
void leave_descriptors_to_program();

}  // namespace lull::stage
