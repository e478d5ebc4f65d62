// Every setting of Lull: its variable, its default, what it means. Each room keeps a table of its own,
// src/ROOM/settings.hpp; the build merges them. `lull settings` and docs/reference/settings.md print the whole. Lull reads
// no variable of its own that is not in it; those of other programs it reads by base/environment.hpp.
//
// A setting is read when asked for and validated then: a value out of range throws lull::error naming the variable.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull {

enum class setting_type { text, choice, integer, real, size };

struct setting {
  const char* variable;  // e.g. "LULL_WAIT"
  setting_type type;
  const char* default_value;  // as it would be written in the environment; "" means unset
  const char* choices;        // for choice: "a|b|c"; for integer and real: "min..max"; else ""
  const char* meaning;        // one sentence
};

[[nodiscard]] std::span<const setting> all_settings();

// What the environment gives it, or null. OpenSHMEM's variables may also go by their old names: SMA_… for SHMEM_…,
// which comes first.
[[nodiscard]] const char* given(const setting& s);
// The text in force: the environment's, else the default. Throws for a variable that is not in the table.
[[nodiscard]] std::string setting_text(std::string_view variable);
// Whether the environment gives it a value.
[[nodiscard]] bool setting_is_set(std::string_view variable);
[[nodiscard]] std::int64_t setting_integer(std::string_view variable);
[[nodiscard]] double setting_real(std::string_view variable);
// Bytes; accepts 4096, 64K, 16M, 1G (powers of 1024) and decimals as in 1.5G.
[[nodiscard]] std::size_t setting_size(std::string_view variable);
// Reads the setting by its type and forgets the value: throws what reading it would.
void check_setting(const setting& row);
[[nodiscard]] std::size_t parse_size(std::string_view text);

// Variables in the environment that begin with LULL_ but are not in the table, each with the nearest that is.
struct unknown_variable {
  std::string variable;
  std::string nearest;
};
[[nodiscard]] std::vector<unknown_variable> unknown_variables();

// How many letters apart two names are, to find the one that was meant.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace lull
