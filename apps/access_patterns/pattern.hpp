// A data access pattern as the literature writes it, and what it means.
//
// Jana, Schuchart, Chapman: Analysis of Energy and Performance of Code Transformations for PGAS-based Data Access
// Patterns. A word over four letters: M copies into registered memory, P puts, Q waits for what was put (quiet), A
// tells the receiver that all is there (an atomic swap). A part that stands twice in a row is done for each fragment
// of the payload, one that stands once is done once, for all of it:
//
//   MPQMPQ    each fragment: copy, put, quiet
//   MPMPQ     each fragment: copy, put; then one quiet
//   PPQ       each fragment: put, out of registered memory; then one quiet
//   MMPQAMM   copy each fragment, put all at once, quiet, tell; the receiver copies each fragment to its place
//
// Behind A stands what the receiver does.
#pragma once
#include <string>
#include <vector>

#include "options.hpp"

namespace access_patterns {

enum class element : char { copy = 'M', put = 'P', quiet = 'Q', tell = 'A' };

struct part {
  bool each_fragment;
  std::vector<element> elements;
};

struct pattern {
  std::string word;
  std::vector<part> sender;    // without A
  std::vector<part> receiver;  // copies, or nothing
  bool tells = false;          // A

  // Whether the sender copies before it puts: its data lie in private memory, else in symmetric.
  [[nodiscard]] bool copies() const;
  [[nodiscard]] bool puts_each_fragment() const;
};

// Throws usage_error, a line that says what in the word has no meaning, also in this layout.
[[nodiscard]] pattern parse_pattern(const std::string& word, layout of);

}  // namespace access_patterns
