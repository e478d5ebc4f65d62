// A number with its noun or unit, for messages: "1 PE", "2 PEs", "4 KiB".
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <string>

namespace lull {

template <std::integral Number>
[[nodiscard]] std::string counted(Number count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : noun.ends_with("s") ? "es" : "s");
}

// In the largest unit that is not larger; exact for a power of two.
[[nodiscard]] inline std::string size_in_words(std::size_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  return std::to_string(bytes) + " " + units[unit];
}

}  // namespace lull
