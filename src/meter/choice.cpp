#include "meter/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/still_counters.hpp"
#include "meter/words.hpp"

namespace lull::meter {
namespace {

std::vector<std::string> names_in_force(std::span<const std::string> asked) {
  std::vector<std::string> names(asked.begin(), asked.end());
  if (names.empty()) names = words_in(setting_text("LULL_METER_SOURCES"));
  for (const std::string& name : names)
    if (std::ranges::find(source_table(), name, &source_entry::name) == source_table().end()) {
      std::vector<std::string_view> known;
      for (const source_entry& entry : source_table()) known.push_back(entry.name);
      throw error("choose the energy sources", "there is no source '" + name + "'",
                  fmt::format("there are {}", fmt::join(known, ", ")));
    }
  return names;
}

// Sources that read the same RAPL registers: the first readable one counts.
constexpr std::array<std::string_view, 4> same_registers{"powercap", "perf", "amd_energy", "served"};

bool reads_the_registers(std::string_view name) {
  return std::ranges::find(same_registers, name) != same_registers.end();
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
  std::string covered_by, registers_read_by;
  for (const source_entry& entry : source_table()) {
    found_source next{
        .source = without_still_counters(entry.make(root), root.is_this_machine()), .used = false, .reason = {}};
    const source_description& description = next.source->description();
    if (!description.state.readable) {
      next.reason = description.state.reason;
    } else if (!names.empty()) {
      next.used = std::ranges::find(names, entry.name) != names.end();
      if (!next.used) next.reason = fmt::format("only {} requested", fmt::join(names, ", "));
    } else if (reads_the_registers(entry.name) && !registers_read_by.empty()) {
      next.reason = registers_read_by + " reads the same counters";
    } else if (description.kind == kind::estimated && !covered_by.empty()) {
      next.reason = covered_by + " counts what it would estimate";
    } else {
      next.used = true;
      if (covered_by.empty() && covers_the_processors(description)) covered_by = entry.name;
      if (reads_the_registers(entry.name)) registers_read_by = entry.name;
    }
    found.push_back(std::move(next));
  }
  return found;
}

std::vector<std::unique_ptr<source>> sources_to_read(const sysroot& root, std::span<const std::string> names) {
  return choose_sources(root, names).to_read;
}

chosen_sources choose_sources(const sysroot& root, std::span<const std::string> asked) {
  const std::vector<std::string> names = names_in_force(asked);
  chosen_sources result;
  for (found_source& f : find_sources(root, names)) {
    const source_description& description = f.source->description();
    if (!f.used && std::ranges::find(names, description.name) != names.end())
      throw error("read the energy source " + description.name, f.reason, description.state.fix);
    if (names.empty() && description.asked_for && !description.state.readable)
      result.not_read.push_back(fmt::format("{} is not read: {}{}{}", description.name, f.reason,
                                            description.state.fix.empty() ? "" : "; ", description.state.fix));
    if (f.used) result.to_read.push_back(std::move(f.source));
  }
  if (result.to_read.empty())
    throw error("choose the energy sources", "none is readable on this machine", "lull sources shows the reasons");
  return result;
}

}  // namespace lull::meter
