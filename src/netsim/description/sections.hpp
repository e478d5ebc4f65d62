// The tables of a simulation's file, and their keys. The keys of topologies, workloads and power modes come from their
// tables; the others are declared here.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"

namespace lull::netsim {

struct section {
  std::string name;  // "" for the keys above all tables, otherwise e.g. "power"; its heading is [power] or, for savings
                     // and jobs, [[jobs]]
  std::vector<key> keys;
};

// In the order of the file: "", topology (without the parameters, which belong to one topology each), network, routing,
// power, savings, sample, jobs. A key of several modes or patterns occurs once, with all to which it applies.
[[nodiscard]] std::span<const section> all_sections();
[[nodiscard]] std::span<const key> keys_of(std::string_view section);

// When a key applies: "not with mode active"; "" for always.
[[nodiscard]] std::string when_in_words(const key& k, std::span<const key> of_section);

// Checks that a section is a table with known keys only, and that each of them applies in combination with the others.
[[nodiscard]] const table& checked_keys(std::span<const key> keys, const value& given, const position& at);

// The values of all keys that apply: given ones, otherwise defaults. A key without either has no entry.
[[nodiscard]] values checked_values(std::span<const key> keys, const table& given, const position& at);

// Checked values as a user could have written them, in the order of the keys.
[[nodiscard]] table as_written(std::span<const key> keys, const values& checked);

}  // namespace lull::netsim
