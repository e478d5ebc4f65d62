// A file mapped into memory for reading.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace irregular {

class input_file {
 public:
  // `what` names the content: "the indices". Throws std::runtime_error with one line, also for an empty file.
  input_file(std::filesystem::path path, std::string what);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::runtime_error mistake(const std::string& found) const;

 private:
  std::filesystem::path path_;
  std::string what_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace irregular
