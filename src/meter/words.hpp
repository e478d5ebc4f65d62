// Lists in settings: words separated by commas or blanks, each once, in the given order.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lull::meter {

[[nodiscard]] inline std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(", ", at), text.size());
    const std::string word(text.substr(at, end - at));
    if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
    at = end + 1;
  }
  return words;
}

}  // namespace lull::meter
