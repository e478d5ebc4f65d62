// Helpers with which the tests of this room inspect folders.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>

namespace lull::stage {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(in ? std::filesystem::file_size(file) : 0, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

inline std::ptrdiff_t entries(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace lull::stage
