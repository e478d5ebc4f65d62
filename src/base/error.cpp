#include "base/error.hpp"

#include <system_error>

namespace lull {

error::error(const std::string& action, const std::string& found, const std::string& fix)
    : std::runtime_error(action + ": " + found + (fix.empty() ? "" : "; " + fix)) {}

std::string describe_errno(int code) { return std::generic_category().message(code); }

}  // namespace lull
