#include "pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace access_patterns {
namespace {

constexpr std::string_view letters = "MPQA";

[[noreturn]] void refuse(const std::string& word, const std::string& found) {
  throw usage_error("pattern " + word + ": " + found);
}

// The length of the shortest part that occurs at least twice in a row at `at`; 0: there is none.
std::size_t repeated(std::string_view word, std::size_t at) {
  for (std::size_t length = 1; at + 2 * length <= word.size(); ++length)
    if (word.substr(at, length) == word.substr(at + length, length)) return length;
  return 0;
}

std::vector<part> parts_of(std::string_view word) {
  std::vector<part> parts;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = repeated(word, at);
    const std::string_view unit = word.substr(at, std::max<std::size_t>(length, 1));
    part one{length != 0, {}};
    for (const char letter : unit) one.elements.push_back(static_cast<element>(letter));
    do at += unit.size();
    while (length != 0 && word.substr(at, length) == unit);
    parts.push_back(std::move(one));
  }
  return parts;
}

bool has(const std::vector<part>& parts, element wanted) {
  return std::ranges::any_of(parts, [&](const part& p) { return std::ranges::count(p.elements, wanted) != 0; });
}

bool each(const std::vector<part>& parts, element wanted) {
  return std::ranges::any_of(
      parts, [&](const part& p) { return p.each_fragment && std::ranges::count(p.elements, wanted) != 0; });
}

// Checks that the sender delivers the payload once and completely, and uses what it copies.
void check_sender(const std::string& word, const std::vector<part>& parts) {
  int puts = 0, copies = 0;
  bool open = false, copied = false;
  for (const part& p : parts) {
    if (p.elements.size() > 1 && std::ranges::count(p.elements, element::put) == 0)
      refuse(word, "a repeated part contains no P; write copies that repeat on their own as MM");
    for (const element e : p.elements) {
      if (e == element::copy) {
        if (++copies > 1) refuse(word, "the payload would be copied twice; write M once for a fragment");
        if (puts != 0)
          refuse(word, "an M after the P copies nothing that is sent; write the receiver's copies after A");
        copied = true;
      } else if (e == element::put) {
        if (++puts > 1) refuse(word, "the payload would be sent twice; write P once for a fragment");
        open = true;
        copied = false;
      } else {
        if (puts == 0) refuse(word, "Q comes before the first P: there is nothing to wait for");
        open = false;
      }
    }
  }
  if (puts == 0) refuse(word, copied ? "M is not followed by a P: nothing is sent" : "it has no P: nothing is sent");
  if (open) refuse(word, "no Q follows the P: it is unknown when the payload has arrived");
}

void check_layout(const pattern& p, layout of) {
  if (of == layout::contiguous) return;
  if (p.copies() && !each(p.sender, element::copy))
    refuse(p.word, "a single M copies one block; write MM for scattered fragments, or use --layout contiguous");
  if (!p.copies() && !p.puts_each_fragment())
    refuse(p.word, "a single P sends one block; write PP for scattered fragments, or use --layout contiguous");
  if (!p.puts_each_fragment() && p.receiver.empty())
    refuse(p.word, "a packed payload arrives packed; append AMM to unpack it, or use --layout contiguous");
  if (!p.receiver.empty() && !each(p.receiver, element::copy))
    refuse(p.word, "a single M after A copies one block; write MM to unpack, or use --layout contiguous");
}

}  // namespace

bool pattern::copies() const { return has(sender, element::copy); }
bool pattern::puts_each_fragment() const { return each(sender, element::put); }

pattern parse_pattern(const std::string& word, layout of) {
  if (word.empty()) refuse("''", "it is empty; write letters M, P, Q and A, such as PPQ");
  for (const char letter : word)
    if (letters.find(letter) == std::string_view::npos)
      refuse(word,
             std::string("it has the letter ") + letter + "; the letters are M (copy), P (put), Q (quiet), A (signal)");
  const std::size_t tell = word.find('A');
  const std::string_view before = std::string_view(word).substr(0, tell);
  const std::string_view behind = tell == std::string::npos ? "" : std::string_view(word).substr(tell + 1);
  if (behind.find_first_not_of('M') != std::string_view::npos)
    refuse(word, std::string("after A the receiver can only copy (M), but A is followed by ") +
                     behind[behind.find_first_not_of('M')]);
  pattern p{word, parts_of(before), parts_of(behind), tell != std::string::npos};
  check_sender(word, p.sender);
  check_layout(p, of);
  return p;
}

}  // namespace access_patterns
