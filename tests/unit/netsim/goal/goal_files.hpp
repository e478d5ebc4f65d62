// Shared by tests of GOAL: files that disappear with the test, in text and in the binary form of txt2bin.
#pragma once
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "netsim/goal/file.hpp"

namespace lull::netsim {

class goal_file {
 public:
  explicit goal_file(const std::string& content) {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("lull-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".goal");
    std::ofstream(path_, std::ios::binary) << content;
  }
  goal_file(const goal_file&) = delete;
  goal_file& operator=(const goal_file&) = delete;
  ~goal_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// What reading the content throws, with the file's name shortened to FILE.
inline std::string goal_failure(const std::string& content) {
  const goal_file file(content);
  try {
    (void)read_goal(file.path());
  } catch (const error& e) {
    std::string text = e.what();
    for (auto at = text.find(file.path()); at != std::string::npos; at = text.find(file.path()))
      text.replace(at, file.path().size(), "FILE");
    return text;
  }
  return "";
}

struct goal_edges {
  std::uint32_t count = 0, first = 0;
};

// Writes the layout that binary_reader.hpp describes, number by number.
class goal_bytes {
 public:
  template <class T>
  goal_bytes& add(T number) {
    for (std::size_t i = 0; i < sizeof number; ++i)
      text_ += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
    return *this;
  }
  goal_bytes& operation(std::uint32_t needs, std::uint8_t kind, std::uint32_t peer, std::uint64_t size,
                        std::uint32_t tag, goal_edges requires_it = {}, goal_edges irequires_it = {}) {
    add(needs).add(kind).add(peer).add(size).add(tag).add(std::uint8_t{0}).add(std::uint8_t{0});
    add(requires_it.count).add(requires_it.first);
    return add(irequires_it.count).add(irequires_it.first);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace lull::netsim
