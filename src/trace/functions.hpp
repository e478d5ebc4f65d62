// What the functions of MPI and OpenSHMEM do, according to their names, which are regular.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "trace/events.hpp"

namespace lull::trace {

// "MPI_Send" and "PMPI_SEND" are "send", "shmem_quiet" is "quiet".
[[nodiscard]] std::string bare_name(std::string_view function);
[[nodiscard]] role role_of_function(std::string_view paradigm, std::string_view name);
// A function that checks whether something is complete or has arrived, and does not wait for it.
[[nodiscard]] bool is_polling(std::string_view paradigm, std::string_view name);
// For a function that all members of a communicator or window call; non-blocking and persistent ones count as the
// blocking one.
[[nodiscard]] std::optional<collective> collective_of_function(std::string_view name);

}  // namespace lull::trace
