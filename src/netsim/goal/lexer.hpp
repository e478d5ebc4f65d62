// The words of a GOAL text, read through a buffer of fixed size.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace lull::netsim {

struct goal_token {
  enum class kind : std::uint8_t { word, number, mark, line_end, file_end };
  kind is = kind::file_end;
  std::string text = {};  // as in the file
};

class goal_lexer {
 public:
  // Throws lull::error if the file cannot be opened.
  explicit goal_lexer(const std::string& path);

  // Comments are left out. Throws lull::error if a comment does not end, or the file cannot be read.
  const goal_token& next();
  [[nodiscard]] const goal_token& current() const { return token_; }
  [[nodiscard]] std::uint32_t line() const { return line_; }  // of the current token
  [[nodiscard]] std::uint64_t bytes_read() const { return read_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Throws lull::error "read FILE:LINE: found; fix".
  [[noreturn]] void mistake(const std::string& found, const std::string& fix) const;

 private:
  static constexpr int none = -1;
  int peek() { return at_ < end_ || fill() ? static_cast<unsigned char>(buffer_[at_]) : none; }
  void take() { ++at_; }
  bool fill();
  void skip_blanks();
  void skip_block();
  template <class Belongs>
  void collect(Belongs belongs);

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t read_ = 0, size_ = 0;
  std::uint32_t line_ = 1;
  bool line_ends_ = false;  // the current token is the end of its line
  goal_token token_;
};

}  // namespace lull::netsim
