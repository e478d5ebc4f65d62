// A data access pattern in the notation of the literature, and its meaning.
//
// Jana, Schuchart, Chapman: Analysis of Energy and Performance of Code Transformations for PGAS-based Data Access
// Patterns. A word of four letters: M copies into registered memory, P puts, Q waits for the completion of the puts
// (quiet), A notifies the receiver that everything is there (an atomic swap). A part that occurs twice in a row is
// carried out for each fragment of the payload; a part that occurs once is carried out once, for all of it:
//
//   MPQMPQ    each fragment: copy, put, quiet
//   MPMPQ     each fragment: copy, put; then one quiet
//   PPQ       each fragment: put, out of registered memory; then one quiet
//   MMPQAMM   copy each fragment, put all at once, quiet, notify; the receiver copies each fragment to its place
//
// The letters after A are carried out by the receiver.
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

  // Whether the sender copies before it puts: its data is in private memory, otherwise in symmetric memory.
  [[nodiscard]] bool copies() const;
  [[nodiscard]] bool puts_each_fragment() const;
};

// Throws usage_error with a line about the part of the word that has no meaning, in general or in this layout.
[[nodiscard]] pattern parse_pattern(const std::string& word, layout of);

}  // namespace access_patterns
