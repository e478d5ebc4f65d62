// The lines of PROCESS.definitions (recording/raw_folder.hpp), in which processes of a job differ by numbers: a line is
// a template, which is stored once, and its numbers as differences from those of the first such line.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/folding/bytes.hpp"

namespace lull::trace::merging {

inline void put_text(folding::bytes& to, std::string_view text) {
  folding::put_number(to, text.size());
  to.insert(to.end(), text.begin(), text.end());
}
// None: it is damaged.
[[nodiscard]] inline std::optional<std::string> read_text(folding::byte_reader& from) {
  const std::uint64_t length = from.number();
  if (from.failed() || length > from.left()) return {};
  std::string text(length, '\0');
  from.copy(text.data(), length);
  return text;
}

class definition_lines {
 public:
  // Appends the lines of a text, whose templates are added to these.
  void put(folding::bytes& to, std::string_view text);
  // The text that put() was given; none: it is damaged.
  [[nodiscard]] std::optional<std::string> read(folding::byte_reader& from) const;

  void put_templates(folding::bytes& to) const;
  [[nodiscard]] static std::optional<definition_lines> read_templates(std::span<const std::uint8_t> content);

 private:
  struct line {
    std::string form;  // with `placeholder` for each number
    std::vector<std::uint64_t> numbers;
  };
  static constexpr char placeholder = '\x01';
  [[nodiscard]] static line parse(std::string_view text);

  std::vector<line> templates_;
  std::unordered_map<std::string, std::size_t> numbers_of_;
};

}  // namespace lull::trace::merging
