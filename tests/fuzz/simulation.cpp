// The description of a simulation: read, or rejected as a mistake of its author. The file is TOML, as a user writes it.
#include <toml++/toml.h>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "netsim/description/description.hpp"

namespace {

using lull::netsim::value;

value value_of(const toml::node& node) {
  if (const auto* const in = node.as_table()) {
    lull::netsim::table out;
    for (const auto& [key, inner] : *in) out.emplace_back(std::string(key.str()), value_of(inner));
    return out;
  }
  if (const auto* const in = node.as_array()) {
    lull::netsim::list out;
    for (const toml::node& inner : *in) out.push_back(value_of(inner));
    return out;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth;
  if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  return {};  // a date
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  toml::table content;
  try {
    content = toml::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const toml::parse_error&) {
    return 0;
  }
  try {
    (void)lull::netsim::read_description(value_of(content), "read net.toml");
  } catch (const lull::usage_error&) {
  }
  return 0;
}
