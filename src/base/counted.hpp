// A number with its noun, for messages: "1 PE", "2 PEs".
#pragma once
#include <concepts>
#include <string>

namespace lull {

template <std::integral Number>
[[nodiscard]] std::string counted(Number count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : noun.ends_with("s") ? "es" : "s");
}

}  // namespace lull
