// Predicts the size of an unfinished file: that of the last file whose name differs only in its numbers.
#pragma once
#include <cctype>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace lull::stage {

class expected_sizes {
 public:
  [[nodiscard]] std::size_t of(const std::string& path) const {
    const auto found = by_series_.find(series_of(path));
    return found == by_series_.end() ? 0 : found->second;
  }
  void learn(const std::string& path, std::size_t bytes) {
    if (by_series_.size() >= most_series) by_series_.clear();
    by_series_[series_of(path)] = bytes;
  }

 private:
  static constexpr std::size_t most_series = 1024;
  // "/x/out_#.h5" for "/x/out_0012.h5".
  static std::string series_of(const std::string& path) {
    std::string series;
    for (const char letter : path) {
      const bool digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
      if (!digit || !series.ends_with('#')) series += digit ? '#' : letter;
    }
    return series;
  }

  std::unordered_map<std::string, std::size_t> by_series_;
};

}  // namespace lull::stage
