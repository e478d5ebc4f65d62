// How many files a server may have outstanding within the system's limit of descriptors.
#pragma once
#include <cstddef>

namespace lull::stage {

// Per client, at least 1. Raises this process's limit as far as permitted.
[[nodiscard]] std::size_t most_outstanding_files(std::size_t clients, std::size_t descriptors_of_a_file);

}  // namespace lull::stage
