// How many files a server may have outstanding, as far as the system permits it descriptors.
#pragma once
#include <cstddef>

namespace lull::stage {

// Of each client, from 1 on. Raises this process's limit as far as it may.
[[nodiscard]] std::size_t most_outstanding_files(std::size_t clients, std::size_t descriptors_of_a_file);

}  // namespace lull::stage
