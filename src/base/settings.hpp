// Every setting of Lull: its variable, its default, its meaning. Each room has a table, src/ROOM/settings.hpp; the
// build merges them. `lull settings` and docs/reference/settings.md print all of them. Lull reads no other variables of
// its own; it reads those of other programs with base/environment.hpp.
//
// A setting is read and validated when it is requested: a value out of range throws lull::error that names the
// variable.
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
  const char* default_value;  // as in the environment; "" means unset
  const char* choices;        // for choice: "a|b|c"; for integer and real: "min..max"; else ""
  const char* meaning;        // one sentence
};

[[nodiscard]] std::span<const setting> all_settings();

// Its value in the environment, or null. OpenSHMEM's variables may also have their old names, SMA_… for SHMEM_…; the
// new name takes precedence.
[[nodiscard]] const char* given(const setting& s);
// The effective text: the environment's, otherwise the default. Throws for a variable that is not in the table.
[[nodiscard]] std::string setting_text(std::string_view variable);
// Whether the environment sets it.
[[nodiscard]] bool setting_is_set(std::string_view variable);
[[nodiscard]] std::int64_t setting_integer(std::string_view variable);
[[nodiscard]] double setting_real(std::string_view variable);
// Bytes; accepts 4096, 64K, 16M, 1G (powers of 1024) and decimals such as 1.5G.
[[nodiscard]] std::size_t setting_size(std::string_view variable);
// Reads the setting by its type and discards the value: throws if the value is invalid.
void check_setting(const setting& row);
[[nodiscard]] std::size_t parse_size(std::string_view text);

// Variables in the environment that begin with LULL_ but are not in the table, each with the nearest one in it.
struct unknown_variable {
  std::string variable;
  std::string nearest;
};
[[nodiscard]] std::vector<unknown_variable> unknown_variables();

// The number of letters by which two names differ, to find the one that was meant.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace lull
