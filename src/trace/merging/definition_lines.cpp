#include "trace/merging/definition_lines.hpp"

#include <algorithm>
#include <charconv>

namespace lull::trace::merging {
namespace {

using folding::put_number;
using folding::unzigzag;
using folding::zigzag;

constexpr std::size_t most_digits = 18;
constexpr std::size_t most_text = 256 << 20;  // more than any process defines

// Whether these digits are how the number is written again.
bool is_number(std::string_view digits) {
  return digits.size() <= most_digits && (digits.size() == 1 || digits.front() != '0');
}

}  // namespace

definition_lines::line definition_lines::parse(std::string_view text) {
  // A text that contains the placeholder itself is a template without numbers.
  if (text.find(placeholder) != std::string_view::npos) return {.form = '\x02' + std::string(text), .numbers = {}};
  line made{.form = "\x03", .numbers = {}};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const std::string_view digits = text.substr(at, end - at);
    if (!digits.empty() && is_number(digits)) {
      std::uint64_t number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      made.numbers.push_back(number);
      made.form += placeholder;
    } else {
      made.form += digits;
    }
    if (end < text.size()) made.form += text[end];
    at = end + 1;
  }
  return made;
}

void definition_lines::put(folding::bytes& to, std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  put_number(to, lines.size());
  for (const std::string_view each : lines) {
    line parsed = parse(each);
    const auto [known, is_new] = numbers_of_.try_emplace(parsed.form, templates_.size());
    if (is_new) templates_.push_back(parsed);
    put_number(to, known->second);
    const line& of = templates_[known->second];
    for (std::size_t i = 0; i < parsed.numbers.size(); ++i) put_number(to, zigzag(parsed.numbers[i] - of.numbers[i]));
  }
}

std::optional<std::string> definition_lines::read(folding::byte_reader& from) const {
  std::string text;
  for (std::uint64_t left = from.number(); left > 0 && !from.failed(); --left) {
    const std::uint64_t number = from.number();
    if (number >= templates_.size() || text.size() > most_text) return {};
    const line& of = templates_[number];
    std::size_t at = 0;
    for (const char c : std::string_view(of.form).substr(1)) {
      if (c == placeholder && of.form[0] == '\x03')
        text += std::to_string(of.numbers[at++] + unzigzag(from.number()));
      else
        text += c;
    }
  }
  return from.failed() ? std::nullopt : std::optional(std::move(text));
}

void definition_lines::put_templates(folding::bytes& to) const {
  put_number(to, templates_.size());
  for (const line& each : templates_) {
    put_text(to, each.form);
    for (const std::uint64_t number : each.numbers) put_number(to, number);
  }
}

std::optional<definition_lines> definition_lines::read_templates(std::span<const std::uint8_t> content) {
  folding::byte_reader from({content});
  definition_lines made;
  for (std::uint64_t left = from.number(); left > 0; --left) {
    auto form = read_text(from);
    if (!form || form->empty()) return {};
    line each{.form = std::move(*form), .numbers = {}};
    if (each.form[0] == '\x03')
      for (std::ptrdiff_t n = std::ranges::count(each.form, placeholder); n > 0; --n)
        each.numbers.push_back(from.number());
    if (from.failed()) return {};
    made.templates_.push_back(std::move(each));
  }
  return made;
}

}  // namespace lull::trace::merging
