#include "meter/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::meter {
namespace {

std::vector<std::string> names_in_force(std::span<const std::string> asked) {
  std::vector<std::string> names(asked.begin(), asked.end());
  if (names.empty()) {
    const std::string text = setting_text("LULL_METER_SOURCES");
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find_first_of(", ", at), text.size());
      if (end > at) names.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  for (const std::string& name : names)
    if (std::ranges::find(source_table(), name, &source_entry::name) == source_table().end()) {
      std::vector<std::string_view> known;
      for (const source_entry& entry : source_table()) known.push_back(entry.name);
      throw error("choose the energy sources", "there is none called '" + name + "'",
                  fmt::format("there are {}", fmt::join(known, ", ")));
    }
  return names;
}

bool covers_the_processors(const source_description& description) {
  return description.kind != kind::estimated && std::ranges::any_of(description.channels, [](const channel& c) {
           return c.covers == domain::node || c.covers == domain::package;
         });
}

}  // namespace

std::vector<found_source> find_sources(const sysroot& root, std::span<const std::string> asked) {
  const std::vector<std::string> names = names_in_force(asked);
  std::vector<found_source> found;
  std::string covered_by;
  for (const source_entry& entry : source_table()) {
    found_source next{.source = entry.make(root), .used = false, .reason = {}};
    const source_description& description = next.source->description();
    if (!description.state.readable) {
      next.reason = description.state.reason;
    } else if (!names.empty()) {
      next.used = std::ranges::find(names, entry.name) != names.end();
      if (!next.used) next.reason = fmt::format("only {} asked for", fmt::join(names, ", "));
    } else if (description.kind == kind::estimated && !covered_by.empty()) {
      next.reason = covered_by + " counts what it would estimate";
    } else {
      next.used = true;
      if (covered_by.empty() && covers_the_processors(description)) covered_by = entry.name;
    }
    found.push_back(std::move(next));
  }
  return found;
}

std::vector<std::unique_ptr<source>> sources_to_read(const sysroot& root, std::span<const std::string> asked) {
  const std::vector<std::string> names = names_in_force(asked);
  std::vector<std::unique_ptr<source>> result;
  for (found_source& f : find_sources(root, names)) {
    const source_description& description = f.source->description();
    if (!f.used && std::ranges::find(names, description.name) != names.end())
      throw error("read the energy source " + description.name, f.reason, description.state.remedy);
    if (f.used) result.push_back(std::move(f.source));
  }
  if (result.empty())
    throw error("choose the energy sources", "none is readable on this machine", "lull sources says why");
  return result;
}

}  // namespace lull::meter
