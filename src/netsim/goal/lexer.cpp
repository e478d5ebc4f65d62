#include "netsim/goal/lexer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace lull::netsim {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

goal_lexer::goal_lexer(const std::string& path) : path_(path), file_(path, std::ios::binary), buffer_(buffer_bytes) {
  const int code = errno;
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) throw error("read " + path, "it is a folder", "name a GOAL file");
  if (!file_) throw error("read " + path, describe_errno(code), "name a GOAL file");
  size_ = std::filesystem::file_size(path, failed);
  if (failed) size_ = 0;  // a pipe
}

bool goal_lexer::fill() {
  if (!file_) return false;
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (file_.bad()) throw error("read " + path_, describe_errno(errno));
  at_ = 0;
  end_ = static_cast<std::size_t>(file_.gcount());
  read_ += end_;
  return end_ > 0;
}

void goal_lexer::mistake(const std::string& found, const std::string& fix) const {
  throw error(fmt::format("read {}:{}", path_, line_), found, fix);
}

void goal_lexer::skip_block() {
  const std::uint32_t begin = line_;
  for (bool star = false;; take()) {
    const int c = peek();
    if (c == none) {
      line_ = begin;
      mistake("the comment does not end", "end it with */");
    }
    if (star && c == '/') return take();
    star = c == '*';
    if (c == '\n') ++line_;
  }
}

void goal_lexer::skip_blanks() {
  while (true) {
    const int c = peek();
    if (c == ' ' || c == '\t' || c == '\r') {
      take();
    } else if (c == '/') {
      take();
      if (peek() == '*') {
        take();
        skip_block();
      } else if (peek() == '/') {
        while (peek() != '\n' && peek() != none) take();
      } else {
        mistake("'/' begins nothing", "write // or /* before a comment");
      }
    } else {
      return;
    }
  }
}

template <class Belongs>
void goal_lexer::collect(Belongs belongs) {
  do {
    token_.text += static_cast<char>(peek());
    take();
  } while (belongs(peek()));
}

const goal_token& goal_lexer::next() {
  if (std::exchange(line_ends_, false)) ++line_;
  skip_blanks();
  token_.text.clear();
  const int c = peek();
  if (c == none) {
    token_.is = goal_token::kind::file_end;
  } else if (c == '\n') {
    token_.is = goal_token::kind::line_end;
    line_ends_ = true;
    take();
  } else if (is_digit(c) || c == '-') {
    token_.is = goal_token::kind::number;
    collect(is_digit);
  } else if (is_letter(c)) {
    token_.is = goal_token::kind::word;
    collect([](int later) { return is_letter(later) || is_digit(later); });
  } else {
    token_.is = goal_token::kind::mark;
    token_.text += static_cast<char>(c);
    take();
  }
  return token_;
}

}  // namespace lull::netsim
