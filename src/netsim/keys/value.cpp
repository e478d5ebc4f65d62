#include "netsim/keys/value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lull::netsim {
namespace {

struct text_of_value {
  bool quoted;
  std::string operator()(std::monostate /*none*/) const { return "none"; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return quoted ? fmt::format("'{}'", v) : v; }
  std::string operator()(const list& v) const {
    std::string text;
    for (const value& one : v) text += (text.empty() ? "" : ", ") + std::visit(*this, one.is);
    return fmt::format("[{}]", text);
  }
  std::string operator()(const table& v) const {
    std::string text;
    for (const auto& [name, one] : v) text += (text.empty() ? "" : ", ") + name + " = " + std::visit(*this, one.is);
    return fmt::format("{{{}}}", text);
  }
};

}  // namespace

std::string shown(const value& v) {
  constexpr std::size_t most = 60;
  std::string text = std::visit(text_of_value{true}, v.is);
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string plain(const value& v) { return std::visit(text_of_value{false}, v.is); }

value list_of(const std::vector<std::int64_t>& numbers) { return {list(numbers.begin(), numbers.end())}; }

std::vector<std::int64_t> numbers_of(const value& v) {
  if (const auto* one = v.as<std::int64_t>()) return {*one};
  std::vector<std::int64_t> numbers;
  for (const value& one : std::get<list>(v.is)) numbers.push_back(std::get<std::int64_t>(one.is));
  return numbers;
}

const value* find(const table& in, std::string_view name) {
  const auto found = std::ranges::find(in, name, [](const auto& entry) { return std::string_view(entry.first); });
  return found == in.end() ? nullptr : &found->second;
}

}  // namespace lull::netsim
