// A folder in memory for the files that a fuzzer passes to a reader, removed at the end of the process.
#pragma once
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lull {

class kept_folder {
 public:
  // Starts with a copy of the content of `filled_with`.
  explicit kept_folder(const std::filesystem::path& filled_with = {}) {
    std::string name = "/dev/shm/lull-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    if (!filled_with.empty()) std::filesystem::copy(filled_with, path_, std::filesystem::copy_options::recursive);
  }
  ~kept_folder() {
    std::error_code nothing;
    std::filesystem::remove_all(path_, nothing);
  }
  kept_folder(const kept_folder&) = delete;
  kept_folder& operator=(const kept_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }

 private:
  std::filesystem::path path_;
};

// Calls `read` with a copy of `original` in which one of the files `names` is replaced: the first byte of the input
// selects the file, the rest is its content.
template <std::size_t Files, class Read>
void with_one_file_replaced(const std::filesystem::path& original, const std::array<const char*, Files>& names,
                            const std::uint8_t* data, std::size_t size, const Read& read) {
  static const kept_folder folder(original);
  if (size == 0) return;
  const char* const name = names.at(data[0] % Files);
  folder.write(name, data + 1, size - 1);
  read(folder.path());
  copy_file(original / name, folder.path() / name, std::filesystem::copy_options::overwrite_existing);
}

}  // namespace lull
