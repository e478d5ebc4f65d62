// What the functions of MPI and OpenSHMEM do, by their names, which are regular.
#pragma once
#include <optional>
#include <string_view>

#include "trace/events.hpp"

namespace lull::trace {

[[nodiscard]] role role_of_function(std::string_view paradigm, std::string_view name);
// Of a function that all of a communicator or window call; non-blocking and persistent ones are as the blocking one.
[[nodiscard]] std::optional<collective> collective_of_function(std::string_view name);

}  // namespace lull::trace
